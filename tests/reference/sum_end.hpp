// The end of a sum of 8-bit products, written from the description in 128 bits: relu, requantisation, saturation.
#pragma once

#include <optional>

#include "tests/reference/elementwise.hpp"

namespace softtpu::reference {

struct Requantisation {
  std::int64_t multiplier;
  int shift;  // positive: to the left
  std::int64_t offset;
};

struct End {
  Dtype result;
  bool unsigned_sum, relu, symmetric;
  Rounding rounding;
  bool unsigned_requant = false;  // an unsigned sum is requantised as such
};

inline std::uint32_t ended(std::int64_t sum, const End& end, const std::optional<Requantisation>& requant) {
  const auto low = static_cast<std::uint32_t>(sum);
  Wide value =
      end.unsigned_sum && (!requant || end.unsigned_requant) ? Wide{low} : Wide{static_cast<std::int32_t>(low)};
  if (end.relu && value < 0) value = 0;
  if (requant) {
    value = shifted(value * requant->multiplier, requant->shift, end.rounding);
    value = Wide{static_cast<std::int64_t>(value)} + requant->offset;
  }
  value = clamped(value, end.result);
  const bool lowest = value < 0 && value == clamped(-(Wide{1} << 100), end.result);
  return low_bits(end.symmetric && lowest ? value + 1 : value, end.result);
}

// Three words as a table holds them: of the second the low 8 bits count, of the third the low 16.
inline Requantisation from_words(std::uint32_t multiplier, std::uint32_t shift, std::uint32_t offset, Dtype result) {
  const bool is_signed = result == Dtype::kInt8 || result == Dtype::kInt16;
  return {static_cast<std::int32_t>(multiplier), static_cast<std::int8_t>(shift),
          is_signed ? std::int64_t{static_cast<std::int16_t>(offset)} : std::int64_t{offset & 0xFFFFU}};
}

}  // namespace softtpu::reference
