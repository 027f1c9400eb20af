// Special-function steps of the BDC: series, tables, exponents, roots, quotients, and loads of constants.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// dst = coeff[0] + coeff[1] * src + coeff[2] * src^2 ...: `coeff` is [1, npu_num, 1, terms], every NPU its own.
struct TaylorCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  Tensor dst, src, coeff;
  double operations() const { return 2.0 * static_cast<double>(dst.shape.elements()) * coeff.shape.w; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "coeff", Operand(coeff), Role{.lanes = dst.shape.c});
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const TaylorCmd&) const = default;
};

// dst = table[src]: `table` is [1, npu_num, 1, length], every NPU its own.
struct LookupCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  Tensor dst, src, table;
  bool known_indices = false;  // all are inside the table by construction: the rules need not look at them
  bool rules_read_memory() const { return !known_indices; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "table", Operand(table), Role{.all = false, .lanes = dst.shape.c});
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const LookupCmd&) const = default;
};

// dst = the power of two nearest to src (float dst), or its exponent with the format's bias (integer dst).
struct ExponentCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const ExponentCmd&) const = default;
};

enum class RootMode : std::uint8_t { kRsqrt, kSqrt };

// dst = 1 / sqrt(src) or sqrt(src), by `iterations` Newton steps.
struct RootCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  RootMode mode = RootMode::kRsqrt;
  Tensor dst, src;
  int iterations = 0;
  bool steps_only = false;  // what the steps give is the result, also an infinity
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("num_iter", iterations);
  }
  bool operator==(const RootCmd&) const = default;
};

// dst = a / b, by `iterations` Newton steps for 1 / sqrt(|b|).
struct DivideCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true, .typed_result = true};
  Tensor dst;
  Operand a, b;
  int iterations = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("num_iter", iterations);
  }
  bool operator==(const DivideCmd&) const = default;
};

enum class Reduction : std::uint8_t { kLargestSize, kSum };

// dst[n, c, 0, 0] = all elements of src[n, c] reduced to one: the largest absolute value, or the sum. Their order is
// that of execution units (numerics: bm1684x2.md section 5).
struct ReduceCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Reduction kind = Reduction::kSum;
  Tensor dst, src;
  double operations() const { return static_cast<double>(src.shape.elements()); }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "A", Operand(src));
    f(Access::kWrite, "R", Operand(dst));
  }
  bool operator==(const ReduceCmd&) const = default;
};

// Copies constants of static memory: dst(n, c, h, w) = src(n, c, h, w), src in static memory with any strides.
struct StaticLoadCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const StaticLoadCmd&) const = default;
};

}  // namespace softtpu
