// Comparison and selection.
#pragma once

#include <cstdint>
#include <optional>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// A set of the three outcomes of a comparison, one bit each.
enum class Compare : std::uint8_t {
  kLess = 1,
  kEqual = 2,
  kLessEqual = 3,
  kGreater = 4,
  kNotEqual = 5,
  kGreaterEqual = 6,
};

// dst = (a <compare> b) ? true_val : 0.
struct CompareCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  Compare compare = Compare::kGreater;
  Tensor dst;
  Operand a, b;
  Scalar true_val;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const CompareCmd&) const = default;
};

// dst = (a <compare> b) ? yes : no; with `winner`, that tensor also receives the same choice between a and b.
struct SelectCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  Compare compare = Compare::kGreater;
  Tensor dst;
  std::optional<Tensor> winner;
  Operand a, b;
  Operand yes, no;
  const char* dst_name() const { return winner ? "dst1" : "dst"; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kRead, "src2", yes);
    f(Access::kRead, "src3", no);
    f(Access::kWrite, dst_name(), Operand(dst));
    if (winner) f(Access::kWrite, "dst0", Operand(*winner));
  }
  bool operator==(const SelectCmd&) const = default;
};

}  // namespace softtpu
