// GDMA moves of rows by index, and selections.
#pragma once

#include <cstdint>

#include "device/command/moves.hpp"
#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class RowsMode : std::uint8_t {
  kGather,      // dst(c, h) = param(c, index(c, h)); an index outside the parameter gives `fill`
  kScatter,     // dst(c, index(c, h)) = param(c, h), h ascending; an index outside dst is skipped
  kScatterAdd,  // as kScatter, adding to what dst holds
};

// Rows of w elements moved by 32-bit indices, counted from `start`. All shapes have n = 1; the index has w = 1.
struct DmaRowsCmd {
  static constexpr CommandTraits kTraits{};
  RowsMode mode = RowsMode::kGather;
  Tensor dst, param, index;
  Scalar fill;
  std::uint32_t start = 0;
  std::uint64_t npus = kAllNpus;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "param", Operand(param), Role{.all = mode != RowsMode::kGather});
    f(Access::kRead, "index", Operand(index));
    f(mode == RowsMode::kScatterAdd ? Access::kReadWrite : Access::kWrite, "output", Operand(dst),
      Role{.all = mode == RowsMode::kGather});
  }
  template <class F>
  void numbers(F f) const {
    f("shape.n", dst.shape.n);
    f("param_h", param.shape.h);
  }
  bool operator==(const DmaRowsCmd&) const = default;
};

// Writes the source elements whose mask element is not zero densely to dst, in n, c, h, w order. dst's shape has room
// for all of them. The answer is their number.
struct DmaMaskSelectCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Tensor dst, src, mask;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "mask", Operand(mask));
    f(Access::kWrite, "dst", Operand(dst), kSomeElements);
  }
  bool operator==(const DmaMaskSelectCmd&) const = default;
};

// Writes base + i for every non-zero element i of src (n, c, h, w order) densely to dst. The answer is their number.
struct DmaNonzeroCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Tensor dst, src;
  std::uint32_t base = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst), kSomeElements);
  }
  bool operator==(const DmaNonzeroCmd&) const = default;
};

}  // namespace softtpu
