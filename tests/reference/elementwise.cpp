#include "tests/reference/elementwise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/reference/chip_float.hpp"

namespace softtpu::reference {
namespace {

Wide floor_divide(Wide value, Wide divisor) {
  const Wide quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

// Whether a fraction above `floor` rounds to the next integer: `side` is -1, 0, 1 for a fraction below, at, above 1/2.
bool rounds_up(bool exact, int side, bool odd, bool negative, Rounding mode) {
  if (exact) return false;
  switch (mode) {
    case Rounding::kHalfToEven: return side > 0 || (side == 0 && odd);
    case Rounding::kHalfAwayFromZero: return side > 0 || (side == 0 && !negative);
    case Rounding::kTowardsZero: return negative;
    case Rounding::kDown: return false;
    case Rounding::kUp: return true;
    case Rounding::kHalfUp: return side >= 0;
    case Rounding::kHalfDown: return side > 0;
  }
  return false;
}

double rounded_any(double value, Rounding mode) {
  const double below = std::floor(value);
  const double fraction = value - below;
  const int side = fraction > 0.5 ? 1 : fraction == 0.5 ? 0 : -1;
  const double result = below + (rounds_up(fraction == 0, side, std::fmod(below, 2) != 0, value < 0, mode) ? 1 : 0);
  return std::copysign(std::fabs(result), result == 0 ? value : result);
}

struct FloatFormat {
  int bits;        // of the significand
  int lowest;      // exponent of the smallest normal number
  double largest;  // finite
};
FloatFormat float_format(Dtype type) {
  if (type == Dtype::kFp16) return {11, -14, 65504.0};
  if (type == Dtype::kBfp16) return {8, -126, 0x1.FEp127};
  return {24, -126, 0x1.FFFFFEp127};
}

// A finite value rounded to the type's grid; ties of HALF_UP and HALF_DOWN on the magnitude or on the value.
double on_grid(double value, Dtype type, Rounding mode, bool magnitude_ties) {
  if (value == 0) return value;
  const FloatFormat format = float_format(type);
  const int step = std::max(std::ilogb(value), format.lowest) - format.bits + 1;
  const double scaled = std::ldexp(value, -step);
  const bool half_mode = mode == Rounding::kHalfUp || mode == Rounding::kHalfDown;
  const double result = half_mode && magnitude_ties ? std::copysign(rounded_any(std::fabs(scaled), mode), value)
                                                    : rounded_any(scaled, mode);
  return std::ldexp(result, step);
}

// Bits of a value on the type's grid, or an infinity.
std::uint32_t bits_on_grid(double value, Dtype type) {
  const std::uint32_t single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == Dtype::kFp32) return single;
  if (type == Dtype::kBfp16) return single >> 16;
  return stored(static_cast<float>(value), Dtype::kFp16);
}

std::uint32_t float_to_half(std::uint32_t bits, Dtype to, Rounding mode) {
  const double exact = value_of(bits, Dtype::kFp32);
  if (std::isnan(exact)) return 0x7FFF;
  const bool subnormal = exact != 0 && std::fabs(exact) < 0x1p-126;
  const double value = to == Dtype::kFp16 && subnormal ? std::copysign(0.0, exact) : exact;
  if (std::isinf(value)) return bits_on_grid(value, to);
  const FloatFormat format = float_format(to);
  if (to == Dtype::kFp16 && std::fabs(value) >= 65536) return value < 0 ? 0xFC00U : 0x7C00U;
  const bool magnitude_ties = std::fabs(value) >= std::ldexp(1.0, format.lowest) || to == Dtype::kBfp16;
  double result = on_grid(value, to, mode, magnitude_ties);
  if (std::fabs(result) > format.largest) result = std::copysign(std::numeric_limits<double>::infinity(), result);
  if (to == Dtype::kBfp16) {
    const bool half_mode = mode == Rounding::kHalfUp || mode == Rounding::kHalfDown;
    if (half_mode && subnormal && exact < 0) return 0x8000U;
    if (std::fabs(result) < 0x1p-126) return std::signbit(exact) ? 0x8000U : 0U;
  }
  return bits_on_grid(result, to);
}

std::uint32_t int_to_any_float(std::int64_t value, Dtype to, Dtype from, Rounding mode) {
  const bool narrow = size_of(from) < 4;
  const double result = on_grid(static_cast<double>(value), to, mode, narrow);
  if (to != Dtype::kFp16 || std::fabs(result) <= 65504) return bits_on_grid(result, to);
  bool saturated = false;
  if (!narrow) {
    switch (mode) {
      case Rounding::kHalfToEven:
      case Rounding::kHalfAwayFromZero: break;
      case Rounding::kTowardsZero: saturated = true; break;
      case Rounding::kDown: saturated = value > 0; break;
      case Rounding::kUp:
      case Rounding::kHalfUp:
      case Rounding::kHalfDown: saturated = value < 0; break;
    }
  }
  return (value < 0 ? 0x8000U : 0U) | (saturated ? 0x7BFFU : 0x7C00U);
}

}  // namespace

std::int64_t int_value(std::uint32_t bits, Dtype type) {
  const int width = 8 * size_of(type);
  const std::int64_t span = std::int64_t{1} << width;
  const std::int64_t value = bits & static_cast<std::uint64_t>(span - 1);
  return is_signed_int(type) && value >= span / 2 ? value - span : value;
}

std::uint32_t low_bits(Wide value, Dtype type) {
  const Wide span = Wide{1} << (8 * size_of(type));
  return static_cast<std::uint32_t>((value % span + span) % span);
}

Wide clamped(Wide value, Dtype type) {
  const Wide span = Wide{1} << (8 * size_of(type));
  const Wide low = is_signed_int(type) ? -span / 2 : 0;
  const Wide high = is_signed_int(type) ? span / 2 - 1 : span - 1;
  return value < low ? low : value > high ? high : value;
}

Wide shifted(Wide value, int shift, Rounding mode) {
  if (shift >= 0) return value * (Wide{1} << std::min(shift, 60));
  const Wide unit = Wide{1} << std::min(-shift, 110);
  const Wide below = floor_divide(value, unit);
  const Wide rest = value - below * unit;
  const int side = rest > unit / 2 ? 1 : rest == unit / 2 ? 0 : -1;
  return below + (rounds_up(rest == 0, side, below % 2 != 0, value < 0, mode) ? 1 : 0);
}

std::uint32_t finished(Wide value, bool saturate, Dtype type) {
  return low_bits(saturate ? clamped(value, type) : value, type);
}

std::uint32_t passed(std::uint32_t bits, Dtype type) {
  if (type == Dtype::kFp32) return (bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits;
  if (type == Dtype::kBfp16) return (bits & 0x7F80U) == 0 ? bits & 0x8000U : bits;
  return bits;
}

int compare(std::uint32_t a, std::uint32_t b, Dtype type) {
  if (is_integer(type)) {
    const std::int64_t x = int_value(a, type);
    const std::int64_t y = int_value(b, type);
    return x > y ? 1 : x == y ? 0 : -1;
  }
  const double x = value_of(passed(a, type), type);
  const double y = value_of(passed(b, type), type);
  if (x > y) return 1;
  return x == y || passed(a, type) == passed(b, type) ? 0 : -1;
}

std::uint32_t max(std::uint32_t a, std::uint32_t b, Dtype type) {
  return passed(compare(a, b, type) > 0 ? a : b, type);
}

// The first operand only when it is not (greater or equal), which a NaN is not either; a NaN equal to itself counts as
// unordered here.
std::uint32_t min(std::uint32_t a, std::uint32_t b, Dtype type) {
  if (is_integer(type)) return compare(a, b, type) < 0 ? a : b;
  const bool not_below = value_of(passed(a, type), type) >= value_of(passed(b, type), type);
  return passed(not_below ? b : a, type);
}

double rounded(double value, Rounding mode) { return rounded_any(value, mode); }

std::uint32_t round_float(std::uint32_t bits, Dtype type, Rounding mode) {
  const double value = value_of(passed(bits, type), type);
  if (std::isnan(value) || std::isinf(value)) return bits;
  const double result = rounded(value, mode);
  return bits_on_grid(std::copysign(result, value), type);
}

std::uint32_t convert(std::uint32_t bits, Dtype to, Dtype from, Rounding mode) {
  if (to == from) return bits;
  if (is_integer(from)) {
    const std::int64_t value = int_value(bits, from);
    return is_integer(to) ? low_bits(clamped(value, to), to) : int_to_any_float(value, to, from, mode);
  }
  if (is_float(to)) {
    if (from == Dtype::kFp32) return float_to_half(bits, to, mode);
    if (from == Dtype::kBfp16) return bits << 16;
    const double value = value_of(bits, from);
    return std::isnan(value) ? 0xFFC00000U : bits_on_grid(value, Dtype::kFp32);
  }
  const double value = value_of(passed(bits, from), from);
  if (std::isnan(value)) return low_bits(clamped(-(Wide{1} << 64), to), to);
  const double limited = std::clamp(value, -0x1p40, 0x1p40);
  return low_bits(clamped(static_cast<Wide>(rounded(limited, mode)), to), to);
}

}  // namespace softtpu::reference
