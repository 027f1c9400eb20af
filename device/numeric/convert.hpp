// Conversions between number formats with a rounding mode (numerics: bm1684x-elementwise.md section 4). Everything
// works on bits or on doubles whose values are exact, so neither the CPU's rounding nor its flush modes matter.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "device/isa/types.hpp"
#include "device/numeric/formats.hpp"
#include "device/numeric/shift.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {

// Nearest integer to a finite |value| < 2^51 in one of the modes 0..4; the sign of a zero result is not defined.
template <Rounding kMode>
double round_integral(double value) {
  // Adding and removing 1.5 * 2^52 leaves the nearest integer (even at ties): the sum has no bits for a fraction.
  constexpr double kAligner = 0x1.8p52;
  const double nearest = value + kAligner - kAligner;
  switch (kMode) {
    case Rounding::kHalfToEven: return nearest;
    case Rounding::kHalfAwayFromZero: {
      const double magnitude = std::abs(value);
      const double even = magnitude + kAligner - kAligner;
      return std::copysign(magnitude - even == 0.5 ? even + 1 : even, value);
    }
    case Rounding::kTowardsZero: {
      const double magnitude = std::abs(value);
      const double even = magnitude + kAligner - kAligner;
      return std::copysign(even > magnitude ? even - 1 : even, value);
    }
    case Rounding::kDown: return nearest > value ? nearest - 1 : nearest;
    case Rounding::kUp: return nearest < value ? nearest + 1 : nearest;
    case Rounding::kHalfUp:
    case Rounding::kHalfDown: break;
  }
  unreachable(kMode);
}

// body.operator()<kMode>() for one of the modes 0..4.
template <class Body>
void for_integral_rounding(Rounding mode, Body body) {
  switch (mode) {
    case Rounding::kHalfToEven: return body.template operator()<Rounding::kHalfToEven>();
    case Rounding::kHalfAwayFromZero: return body.template operator()<Rounding::kHalfAwayFromZero>();
    case Rounding::kTowardsZero: return body.template operator()<Rounding::kTowardsZero>();
    case Rounding::kDown: return body.template operator()<Rounding::kDown>();
    case Rounding::kUp: return body.template operator()<Rounding::kUp>();
    case Rounding::kHalfUp:
    case Rounding::kHalfDown: break;
  }
  unreachable(mode);
}

// What subnormals and NaNs are in a conversion (device/chip/rules.def: exact-conversions).
enum class Specials : std::uint8_t {
  kFlushed,  // subnormals are zeros; a NaN gives the lowest integer, 0x7fff, or 0xffc00000
  kExact,    // to integers: a subnormal has its value, a NaN gives 0; between floats: a NaN keeps its sign
};

// A float as a rounding to integers reads it, given by the bits of an f32: kExact puts the smallest normal number for a
// subnormal, which every rounding treats alike.
constexpr float integral_operand(std::uint32_t bits, Specials specials) {
  const bool small = (bits & 0x7F800000U) == 0 && (bits & 0x007FFFFFU) != 0;
  const std::uint32_t replaced = (bits & 0x80000000U) | (specials == Specials::kExact ? 0x00800000U : 0U);
  return std::bit_cast<float>(small ? replaced : bits);
}

// The bits of an f32, f16 or bf16 as those of an f32, subnormals of the source kept.
constexpr std::uint32_t wide_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr std::uint32_t wide_bits(F16 value) { return std::bit_cast<std::uint32_t>(widen_f16(value.bits)); }
constexpr std::uint32_t wide_bits(Bf16 value) { return static_cast<std::uint32_t>(value.bits) << 16; }

// f32 (from integral_operand) -> integer of `range`, clamped; a NaN gives the lowest.
template <Rounding kMode>
std::int64_t float_to_int(float value, IntRange range) {
  const double low = static_cast<double>(range.low);
  const double high = static_cast<double>(range.high);
  double number = static_cast<double>(value);
  number = number > high ? high : number;
  // Also true for a NaN.
  number = !(number >= low) ? low : number;
  return static_cast<std::int64_t>(round_integral<kMode>(number));
}
template <Rounding kMode>
std::int64_t float_to_int(std::uint32_t wide_bits, IntRange range, Specials specials) {
  if (specials == Specials::kExact && is_nan_bits(wide_bits)) return 0;
  return float_to_int<kMode>(integral_operand(wide_bits, specials), range);
}

// What is added to a magnitude before its last `drop` bits are cut, for one mode and sign. Ties of HALF_UP and
// HALF_DOWN: kMagnitude counts them on the magnitude (away from / toward zero), kValue on the value (toward +Inf /
// -Inf).
enum class Ties : std::uint8_t { kMagnitude, kValue };

template <class Bits>
constexpr Bits round_magnitude(Bits magnitude, int drop, bool negative, Rounding mode, Ties ties) {
  if (drop == 0) return magnitude;
  const Bits half = Bits{1} << (drop - 1);
  const Bits ones = (Bits{1} << drop) - 1;
  const bool mirrored = ties == Ties::kValue && negative;
  Bits bias = 0;
  switch (mode) {
    case Rounding::kHalfToEven: bias = half - 1 + (magnitude >> drop & 1); break;
    case Rounding::kHalfAwayFromZero: bias = half; break;
    case Rounding::kTowardsZero: break;
    case Rounding::kDown: bias = negative ? ones : 0; break;
    case Rounding::kUp: bias = negative ? 0 : ones; break;
    case Rounding::kHalfUp: bias = mirrored ? half - 1 : half; break;
    case Rounding::kHalfDown: bias = mirrored ? half : half - 1; break;
  }
  return (magnitude + bias) >> drop;
}

// f32 -> f16 in any mode; f32 subnormals count as zero, f16 subnormals are kept, a NaN gives 0x7fff.
inline std::uint16_t float_to_f16(float value, Rounding mode) {
  const std::uint32_t bits = flush_bits(std::bit_cast<std::uint32_t>(value));
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const bool negative = bits >> 31 != 0;
  const std::uint32_t sign = negative ? 0x8000U : 0U;
  if (magnitude > 0x7F800000U) return kNan16;
  if (magnitude >= 0x47800000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude >= 0x38800000U) {
    return static_cast<std::uint16_t>(sign |
                                      round_magnitude(magnitude - 0x38000000U, 13, negative, mode, Ties::kMagnitude));
  }
  // A subnormal half counts steps of 2^-24; the f32 is significand * 2^(exponent - 150).
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  const int drop = 126 - static_cast<int>(magnitude >> 23);
  const std::uint64_t significand = (magnitude & 0x7FFFFFU) | 0x800000U;
  // Below half of the smallest step the exact distance no longer matters.
  return static_cast<std::uint16_t>(sign |
                                    round_magnitude(significand, drop < 40 ? drop : 40, negative, mode, Ties::kValue));
}

// f32 -> bf16 in any mode from the exact value; subnormal results become signed zeros, a NaN gives 0x7fff.
inline std::uint16_t float_to_bf16(float value, Rounding mode) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const bool negative = bits >> 31 != 0;
  const std::uint32_t sign = negative ? 0x8000U : 0U;
  if (magnitude > 0x7F800000U) return kNan16;
  const bool half_mode = mode == Rounding::kHalfUp || mode == Rounding::kHalfDown;
  // Recorded: these two modes send a negative f32 subnormal to -0 even where rounding would leave the subnormals.
  if (half_mode && negative && magnitude < 0x00800000U) return 0x8000U;
  const std::uint32_t rounded = round_magnitude(magnitude, 16, negative, mode, Ties::kMagnitude);
  return static_cast<std::uint16_t>(sign | (rounded < 0x80U ? 0U : rounded));
}

// Integers up to 32 bits -> float with `kept` mantissa bits, as the bits of an f32 whose value is the rounded one.
// `ties` is kMagnitude for 8- and 16-bit integers and kValue for 32-bit ones.
inline std::uint32_t int_to_rounded_float(std::int64_t value, int kept, Rounding mode, Ties ties) {
  if (value == 0) return 0;
  const bool negative = value < 0;
  const std::uint64_t magnitude = static_cast<std::uint64_t>(negative ? -value : value);
  const int top = 63 - std::countl_zero(magnitude);
  const int drop = top > kept ? top - kept : 0;
  const std::uint64_t rounded = round_magnitude(magnitude, drop, negative, mode, ties);
  // At most kept + 1 significant bits are left (one more after a carry): the conversion and the scaling are exact.
  const float result = static_cast<float>(rounded) * std::bit_cast<float>(static_cast<std::uint32_t>(127 + drop) << 23);
  return std::bit_cast<std::uint32_t>(result) | (negative ? 0x80000000U : 0U);
}

inline float int_to_float(std::int64_t value, Rounding mode, Ties ties) {
  return std::bit_cast<float>(int_to_rounded_float(value, 23, mode, ties));
}
inline std::uint16_t int_to_bf16(std::int64_t value, Rounding mode, Ties ties) {
  return static_cast<std::uint16_t>(int_to_rounded_float(value, 7, mode, ties) >> 16);
}
inline std::uint16_t int_to_f16(std::int64_t value, Rounding mode, Ties ties) {
  const std::uint32_t bits = int_to_rounded_float(value, 10, mode, ties);
  const bool negative = bits >> 31 != 0;
  const std::uint16_t sign = negative ? 0x8000U : 0U;
  if ((bits & 0x7FFFFFFFU) < 0x47800000U) return float_to_f16(std::bit_cast<float>(bits), Rounding::kTowardsZero);
  // Overflow. From 8 and 16 bits only a value that was rounded up arrives here.
  bool infinite = true;
  if (ties == Ties::kValue) {
    if (mode == Rounding::kTowardsZero) infinite = false;
    if (mode == Rounding::kDown) infinite = negative;
    if (mode == Rounding::kUp || mode == Rounding::kHalfUp || mode == Rounding::kHalfDown) infinite = !negative;
  }
  return static_cast<std::uint16_t>(sign | (infinite ? 0x7C00U : 0x7BFFU));
}
constexpr Ties ties_of(Dtype integer) { return size_of(integer) == 4 ? Ties::kValue : Ties::kMagnitude; }

// f16 -> f32 as a conversion does it: every NaN becomes the same one, kExact: with the sign it had.
inline float convert_f16(std::uint16_t half, Specials specials) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(widen_f16(half));
  const std::uint32_t nan = specials == Specials::kExact ? 0x7FFFFFFFU | (bits & 0x80000000U) : kNanInvalid;
  return std::bit_cast<float>(is_nan_bits(bits) ? nan : bits);
}
// f32 -> f16 or bf16 as a conversion does it.
inline std::uint16_t convert_to_half(float value, Dtype to, Rounding mode, Specials specials) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if (specials == Specials::kExact) {
    if (is_nan_bits(bits)) return static_cast<std::uint16_t>(kNan16 | (bits >> 16 & 0x8000U));
    value = flush(value);
  }
  return to == Dtype::kFp16 ? float_to_f16(value, mode) : float_to_bf16(value, mode);
}

// One value of type `from`, given by its low bits, in type `to`. The pair and the mode are ones that the chip converts
// (device/engines/bdc/integer/rules.cpp).
std::uint32_t convert_bits(std::uint32_t bits, Dtype to, Dtype from, Rounding mode, Specials specials);

}  // namespace softtpu
