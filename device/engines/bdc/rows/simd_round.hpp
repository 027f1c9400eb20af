// Rounding to integral values and to the 16-bit types in the chip's rounding modes, on vectors. The plain forms are in
// device/numeric/convert.hpp. Included once for each instruction set, after hwy/highway.h.
#if defined(SOFTTPU_BDC_SIMD_ROUND_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef SOFTTPU_BDC_SIMD_ROUND_HPP_
#undef SOFTTPU_BDC_SIMD_ROUND_HPP_
#else
#define SOFTTPU_BDC_SIMD_ROUND_HPP_
#endif

#include <hwy/highway.h>

#include "device/engines/bdc/rows/simd_float.hpp"
#include "device/numeric/convert.hpp"

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

#if !SOFTTPU_NO_VECTORS

// integral_operand() of device/numeric/convert.hpp for Specials::kExact: the smallest normal number for a subnormal.
HWY_INLINE FloatVector exact_integral_operand(FloatVector value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto bits = bits_of(value);
  const auto magnitude = hn::And(bits, word(0x7FFFFFFFU));
  const auto small = hn::And(hn::Lt(hn::BitCast(Ints(), magnitude), hn::Set(Ints(), 0x00800000)),
                             hn::Gt(hn::BitCast(Ints(), magnitude), hn::Zero(Ints())));
  const auto smallest = hn::Or(hn::And(bits, word(0x80000000U)), word(0x00800000U));
  return float_of(hn::IfThenElse(hn::RebindMask(Words(), small), smallest, bits));
}

// Subnormals have been flushed; the sign of a zero result is not defined.
template <Rounding kMode>
HWY_INLINE FloatVector integral(FloatVector value) {
  namespace hn = hwy::HWY_NAMESPACE;
  switch (kMode) {
    case Rounding::kHalfToEven: return hn::Round(value);
    case Rounding::kHalfAwayFromZero: {
      const auto magnitude = hn::Abs(value);
      const auto cut = hn::Trunc(magnitude);
      const auto up = hn::Ge(hn::Sub(magnitude, cut), hn::Set(Floats(), 0.5F));
      return hn::CopySign(hn::Add(cut, hn::IfThenElseZero(up, hn::Set(Floats(), 1.0F))), value);
    }
    case Rounding::kTowardsZero: return hn::Trunc(value);
    case Rounding::kDown: return hn::Floor(value);
    case Rounding::kUp: return hn::Ceil(value);
    case Rounding::kHalfUp:
    case Rounding::kHalfDown: break;
  }
  unreachable(kMode);
}

// What is added to a magnitude before the bits below `half` * 2 are cut; `kept` is the magnitude's lowest bit that
// stays.
template <Rounding kMode, Ties kTies>
HWY_INLINE WordVector rounding_bias(WordVector half, WordVector kept, WordVector negative) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto one = word(1);
  const auto ones = hn::Sub(hn::Add(half, half), one);
  const auto is_negative = hn::Ne(negative, hn::Zero(Words()));
  const auto by_sign = [&](WordVector below_zero, WordVector above)
                           HWY_ATTR { return hn::IfThenElse(is_negative, below_zero, above); };
  switch (kMode) {
    case Rounding::kHalfToEven: return hn::Add(hn::Sub(half, one), kept);
    case Rounding::kHalfAwayFromZero: return half;
    case Rounding::kTowardsZero: return hn::Zero(Words());
    case Rounding::kDown: return by_sign(ones, hn::Zero(Words()));
    case Rounding::kUp: return by_sign(hn::Zero(Words()), ones);
    case Rounding::kHalfUp: return kTies == Ties::kValue ? by_sign(hn::Sub(half, one), half) : half;
    case Rounding::kHalfDown: return kTies == Ties::kValue ? by_sign(half, hn::Sub(half, one)) : hn::Sub(half, one);
  }
  unreachable(kMode);
}

// f32 (subnormals flushed) -> f16 bits.
template <Rounding kMode>
HWY_INLINE WordVector rounded_to_f16(FloatVector value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto bits = bits_of(value);
  const auto negative = hn::And(bits, word(0x80000000U));
  const auto magnitude = hn::Xor(bits, negative);
  const auto one = word(1);
  const auto signed_magnitude = hn::BitCast(Ints(), magnitude);
  const auto rebased = hn::Sub(magnitude, word(0x38000000U));
  const auto kept = hn::And(hn::ShiftRight<13>(rebased), one);
  auto half =
      hn::ShiftRight<13>(hn::Add(rebased, rounding_bias<kMode, Ties::kMagnitude>(word(1U << 12), kept, negative)));
  const auto small = hn::RebindMask(Words(), hn::Lt(signed_magnitude, hn::Set(Ints(), 0x38800000)));
  if (!hn::AllFalse(Words(), small)) {
    // A subnormal half counts steps of 2^-24. A distance beyond 26 bits no longer matters.
    const auto significand = hn::Or(hn::And(magnitude, word(0x7FFFFFU)), word(0x800000U));
    const auto distance = hn::Sub(hn::Set(Ints(), 126), hn::BitCast(Ints(), hn::ShiftRight<23>(magnitude)));
    // Outside of the small ones the distance only has to be a legal shift.
    const auto drop = hn::BitCast(Words(), hn::Max(hn::Min(distance, hn::Set(Ints(), 26)), hn::Set(Ints(), 1)));
    const auto middle = hn::Shl(one, hn::Sub(drop, one));
    const auto lowest = hn::And(hn::Shr(significand, drop), one);
    const auto bias = rounding_bias<kMode, Ties::kValue>(middle, lowest, negative);
    const auto steps = hn::Shr(hn::Add(significand, bias), drop);
    half = hn::IfThenElse(small, hn::IfThenZeroElse(hn::Eq(magnitude, hn::Zero(Words())), steps), half);
  }
  const auto large = hn::RebindMask(Words(), hn::Gt(signed_magnitude, hn::Set(Ints(), 0x477FFFFF)));
  half = hn::Or(hn::IfThenElse(large, word(0x7C00), half), hn::ShiftRight<16>(negative));
  return hn::IfThenElse(hn::RebindMask(Words(), is_nan(value)), word(kNan16), half);
}

// f32 -> bf16 bits, from the exact value. kExact: subnormals are zeros before they are rounded, and a NaN keeps its
// sign.
template <Rounding kMode, bool kExact>
HWY_INLINE WordVector rounded_to_bf16(FloatVector value) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto bits = bits_of(value);
  const auto negative = hn::And(bits, word(0x80000000U));
  const auto magnitude = hn::Xor(bits, negative);
  const auto kept = hn::And(hn::ShiftRight<16>(magnitude), word(1));
  const auto bias = rounding_bias<kMode, Ties::kMagnitude>(word(0x8000), kept, negative);
  const auto rounded = hn::ShiftRight<16>(hn::Add(magnitude, bias));
  const auto tiny = hn::Lt(hn::BitCast(Ints(), magnitude), hn::Set(Ints(), 0x00800000));
  auto subnormal = kExact ? tiny : hn::Lt(hn::BitCast(Ints(), rounded), hn::Set(Ints(), 0x80));
  if (!kExact && (kMode == Rounding::kHalfUp || kMode == Rounding::kHalfDown)) {
    // These two modes look at a negative number before they round it.
    const auto below_zero = hn::Lt(hn::BitCast(Ints(), bits), hn::Zero(Ints()));
    subnormal = hn::Or(subnormal, hn::And(tiny, below_zero));
  }
  const auto half =
      hn::Or(hn::IfThenZeroElse(hn::RebindMask(Words(), subnormal), rounded), hn::ShiftRight<16>(negative));
  const auto nan = kExact ? hn::Or(word(kNan16), hn::ShiftRight<16>(negative)) : word(kNan16);
  return hn::IfThenElse(hn::RebindMask(Words(), is_nan(value)), nan, half);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();

#endif
