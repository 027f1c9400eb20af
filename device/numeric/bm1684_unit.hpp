// What BM1684's f32 unit computes beyond add, sub and mul (numerics: bm1684-okkernel.md sections 3 to 5). Division and
// the square roots are made of multiplications and are several ulp off. To be called inside an FpuScope.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "device/numeric/float_unit.hpp"

namespace softtpu::bm1684 {

constexpr std::uint32_t kSignBit = 0x80000000U;

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// A guess from the exponent and three Newton steps; zeros, negatives and infinities have no special handling.
inline float rsqrt(float x) {
  const auto guess = 0x5F3759DFU - static_cast<std::uint32_t>(std::bit_cast<std::int32_t>(x) >> 1);
  const float half = chip_mul(flush(x), 0.5F);
  float y = from_bits(guess);
  for (int step = 0; step < 3; ++step) {
    y = flush(y);
    y = chip_mul(y, chip_sub(1.5F, chip_mul(chip_mul(half, y), y)));
  }
  return y;
}

// a / b = a * sign(b) * rsqrt(|b|)^2.
inline float div(float a, float b) {
  const float root = rsqrt(from_bits(bits_of(b) & ~kSignBit));
  return chip_mul(chip_mul(root, root), flush(from_bits(bits_of(a) ^ (bits_of(b) & kSignBit))));
}

inline float sqrt(float x) { return div(1.0F, rsqrt(x)); }

inline float relu(float x) { return flush(x) > 0.0F ? x : 0.0F; }

// a <= b ? a : b; a NaN on either side gives b, and nothing is flushed.
inline float min(float a, float b) { return flush(a) <= flush(b) ? a : b; }

// Towards zero; values out of range and NaN give the limit of their sign.
inline std::int32_t to_int32(float x) {
  const std::uint32_t magnitude = bits_of(x) & ~kSignBit;
  if (magnitude < 0x4F000000U) return static_cast<std::int32_t>(flush(x));
  return (bits_of(x) & kSignBit) != 0 ? INT32_MIN : INT32_MAX;
}

// Shift amounts are the low 6 bits as a signed number: left when positive; 32 places count as none.
inline std::int32_t shift_amount(std::uint32_t word) { return static_cast<std::int32_t>(word << 26) >> 26; }
inline std::uint32_t shift_logical(std::uint32_t value, std::uint32_t by) {
  const std::int32_t amount = shift_amount(by);
  const int places = std::abs(amount) & 31;
  return amount >= 0 ? value << places : value >> places;
}
inline std::uint32_t shift_arithmetic(std::uint32_t value, std::uint32_t by) {
  const std::int32_t amount = shift_amount(by);
  const int places = std::abs(amount) & 31;
  return amount >= 0 ? value << places : static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> places);
}

}  // namespace softtpu::bm1684
