// What conversions do with subnormals and NaNs on a chip.
#pragma once

#include <bit>
#include <cstdint>

#include "device/chip/rules.hpp"
#include "device/numeric/convert.hpp"

namespace softtpu {

inline Specials conversion_specials(const Chip& chip) {
  return chip.has(Quirk::kExactConversions) ? Specials::kExact : Specials::kFlushed;
}

// What the rule half-overflow-by-mode makes of an f16 that a number of the type `from` was rounded to; `beyond` says
// that the number itself lies beyond the largest f16.
inline std::uint16_t half_overflow(Dtype from, Rounding mode, bool beyond, std::uint16_t half) {
  if (beyond && mode == Rounding::kUp && from == Dtype::kFp32 && (half & 0x7FFFU) == 0x7C00U)
    return static_cast<std::uint16_t>(half - 1);
  if (beyond && mode == Rounding::kDown && is_integer(from) && size_of(from) == 4 && half == 0x7BFFU) return 0x7C00U;
  return half;
}
// The same of the rule half-overflow-towards-zero.
inline bool half_overflow_is_cut(const Chip& chip, Dtype to, Dtype from, Rounding mode) {
  const bool wide = from == Dtype::kFp32 || (is_integer(from) && size_of(from) == 4);
  return wide && to == Dtype::kFp16 && mode == Rounding::kTowardsZero && chip.has(Quirk::kHalfOverflowCut);
}
inline std::uint16_t cut_half(float value, std::uint16_t half) {
  if (is_nan_bits(std::bit_cast<std::uint32_t>(value))) return 0;
  return static_cast<std::uint16_t>((half & 0x7FFFU) == 0x7C00U ? half - 1 : half);
}
inline std::uint16_t cut_half(std::int64_t value, std::uint16_t half) {
  constexpr std::int64_t kBeyond = 65536;
  if (value > -kBeyond && value < kBeyond) return half;
  return value < 0 ? 0xFC00U : 0x7C00U;
}
// Whether half_overflow may change anything.
inline bool half_overflows_by_mode(const Chip& chip, Dtype to, Dtype from, Rounding mode) {
  if (to != Dtype::kFp16 || !chip.has(Quirk::kHalfOverflow)) return false;
  return mode == Rounding::kUp ? from == Dtype::kFp32 : mode == Rounding::kDown && is_integer(from);
}

}  // namespace softtpu
