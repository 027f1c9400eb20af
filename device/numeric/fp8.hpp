// The two 8-bit floats (numerics bm1690.md section 3): E4M3 has no infinity, a NaN is 0x7f or 0xff and the largest
// number 448; E5M2 is the upper half of an f16. Subnormals are kept in both directions.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "device/isa/types.hpp"
#include "device/numeric/convert.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {

struct E4m3 {
  std::uint8_t bits;
};
struct E5m2 {
  std::uint8_t bits;
};

template <class T>
struct Fp8Format;
template <>
struct Fp8Format<E4m3> {
  static constexpr int kMantissa = 3, kBias = 7;
  static constexpr std::uint8_t kLargest = 0x7E, kOverflow = 0x7F;
};
template <>
struct Fp8Format<E5m2> {
  static constexpr int kMantissa = 2, kBias = 15;
  static constexpr std::uint8_t kLargest = 0x7B, kOverflow = 0x7C;
};

constexpr std::uint8_t kNanFp8 = 0x7F;

// Exact; a NaN keeps its sign and has its pattern as the end of its payload.
template <class T>
constexpr float computed_fp8(std::uint8_t bits) {
  using Format = Fp8Format<T>;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80U) << 24;
  const std::uint32_t magnitude = bits & 0x7FU;
  if (magnitude > Format::kLargest) {
    const bool infinite = magnitude == Format::kOverflow && Format::kOverflow != kNanFp8;
    return std::bit_cast<float>(sign | (infinite ? 0x7F800000U : 0x7FFFFF00U | bits));
  }
  if (magnitude >> Format::kMantissa != 0)
    return std::bit_cast<float>(sign | (magnitude + ((127U - Format::kBias) << Format::kMantissa))
                                           << (23 - Format::kMantissa));
  // A subnormal counts steps of the smallest one, which is a normal f32.
  const float step = std::bit_cast<float>((128U - Format::kBias - Format::kMantissa) << 23);
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * step));
}

template <class T>
constexpr std::array<float, 256> kFp8Values = [] {
  std::array<float, 256> values{};
  for (unsigned bits = 0; bits < values.size(); ++bits) values[bits] = computed_fp8<T>(static_cast<std::uint8_t>(bits));
  return values;
}();

template <class T>
constexpr float widen_fp8(T value) {
  return kFp8Values<T>[value.bits];
}

// f32 -> FP8 in one of the modes 0..4. f32 subnormals count as zeros of their sign; a NaN keeps its sign. What is
// rounded beyond the largest number, and an infinity, becomes that number with `saturate`, else NaN (E4M3) or infinity
// (E5M2).
template <class T>
constexpr std::uint8_t round_fp8(float value, Rounding mode, bool saturate) {
  using Format = Fp8Format<T>;
  constexpr int kDrop = 23 - Format::kMantissa;
  constexpr std::uint32_t kLeastNormal = (128U - Format::kBias) << 23;
  const std::uint32_t bits = flush_bits(std::bit_cast<std::uint32_t>(value));
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const bool negative = bits >> 31 != 0;
  const std::uint32_t sign = negative ? 0x80U : 0U;
  if (magnitude > 0x7F800000U) return static_cast<std::uint8_t>(sign | kNanFp8);
  std::uint32_t rounded = 0;
  if (magnitude == 0x7F800000U) {
    rounded = kNanFp8;
  } else if (magnitude >= kLeastNormal) {
    rounded = round_magnitude(magnitude - ((127U - Format::kBias) << 23), kDrop, negative, mode, Ties::kMagnitude);
  } else if (magnitude != 0) {
    const int drop = kDrop + 128 - Format::kBias - static_cast<int>(magnitude >> 23);
    const std::uint64_t significand = (magnitude & 0x7FFFFFU) | 0x800000U;
    // Below half of the smallest step the exact distance no longer matters.
    rounded = static_cast<std::uint32_t>(
        round_magnitude(significand, drop < 40 ? drop : 40, negative, mode, Ties::kMagnitude));
  }
  if (rounded > Format::kLargest) rounded = saturate ? Format::kLargest : Format::kOverflow;
  return static_cast<std::uint8_t>(sign | rounded);
}

// In products and sums results do not saturate, and every NaN is 0x7f.
template <class T>
constexpr T stored_fp8(float value) {
  if (is_nan_bits(std::bit_cast<std::uint32_t>(value))) return {kNanFp8};
  return {round_fp8<T>(value, Rounding::kHalfToEven, false)};
}
template <>
struct Wide<E4m3> {
  using type = float;
  static constexpr float load(E4m3 value) { return widen_fp8(value); }
  static constexpr E4m3 round(float value) { return stored_fp8<E4m3>(value); }
};
template <>
struct Wide<E5m2> {
  using type = float;
  static constexpr float load(E5m2 value) { return widen_fp8(value); }
  static constexpr E5m2 round(float value) { return stored_fp8<E5m2>(value); }
};

// body(T()) with the storage type of an FP8.
template <class Body>
void for_fp8_type(Dtype type, Body body) {
  type == Dtype::kFp8E4M3 ? body(E4m3()) : body(E5m2());
}

}  // namespace softtpu
