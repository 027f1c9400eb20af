// Integer BDC commands whose operands differ in width and sign, with a shift behind the operation. Shifts count to the
// left; negative ones shift right with rounding.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// A shift is a number where it is a constant.
template <class F>
void number_shift(F& f, const Operand& shift) {
  if (const auto* constant = std::get_if<Scalar>(&shift)) f("shift", static_cast<std::int8_t>(constant->bits));
}

enum class IntMode : std::uint8_t { kAdd, kSub, kMul, kMax, kMin };

// dst = (a <mode> b) shifted, then clamped to dst's type or cut to its low bits. `shift` is int8: a constant, or one
// value per channel.
struct IntArithCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true, .typed_result = true};
  IntMode mode = IntMode::kAdd;
  Tensor dst;
  Operand a, b;
  Operand shift;
  Rounding rounding = Rounding::kHalfToEven;
  bool saturate = true;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kRead, "shift", shift);
    f(Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    // A minimum or maximum is not shifted (golden bm1684x-1.30: new_ew).
    if (mode != IntMode::kMax && mode != IntMode::kMin) number_shift(f, shift);
  }
  bool operator==(const IntArithCmd&) const = default;
};

// dst = low bits of src shifted by `shift` (a constant, or one value per element).
struct ShiftCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  Tensor dst, src;
  Operand shift;
  Rounding rounding = Rounding::kHalfToEven;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "shift", shift);
    f(Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    number_shift(f, shift);
  }
  bool operator==(const ShiftCmd&) const = default;
};

enum class Quant : std::uint8_t { kRequant, kDequant };

// kRequant: dst = (src * multiplier shifted) + offset. kDequant: dst = (src - offset) * multiplier shifted. Clamped.
// Parameters are constants or one value per channel.
struct IntQuantCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  Quant direction = Quant::kRequant;
  Tensor dst, src;
  Operand multiplier, shift, offset;
  Rounding rounding = Rounding::kHalfToEven;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "multiplier", multiplier);
    f(Access::kRead, "shift", shift);
    f(Access::kRead, "offset", offset);
    f(Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    number_shift(f, shift);
  }
  bool operator==(const IntQuantCmd&) const = default;
};

}  // namespace softtpu
