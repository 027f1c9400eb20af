// Storage formats of the chip's float types and how an arithmetic unit loads and stores them
// (numerics: bm1684x-elementwise.md section 2). All functions here are exact and free of CPU mode effects.
#pragma once

#include <bit>
#include <cstdint>

namespace softtpu {

constexpr std::uint32_t kNanInvalid = 0xFFC00000U;  // what an invalid f32 operation gives
constexpr std::uint16_t kNan16 = 0x7FFFU;           // every NaN result in a 16-bit type

constexpr bool is_nan_bits(std::uint32_t bits) { return (bits & 0x7FFFFFFFU) > 0x7F800000U; }
constexpr std::uint32_t quiet(std::uint32_t bits) { return bits | 0x00400000U; }
// Subnormal f32 -> zero of the same sign.
constexpr std::uint32_t flush_bits(std::uint32_t bits) { return (bits & 0x7F800000U) == 0 ? bits & 0x80000000U : bits; }
constexpr float flush(float value) { return std::bit_cast<float>(flush_bits(std::bit_cast<std::uint32_t>(value))); }

// f16 bits -> f32, exact; a NaN keeps its payload.
constexpr float widen_f16(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = half >> 10 & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  // A subnormal half is mantissa * 2^-24: exact and a normal f32 (or zero).
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}
// f32 -> f16 bits, nearest even, subnormal results kept, overflow to infinity, any NaN -> 0x7fff.
constexpr std::uint16_t round_f16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return kNan16;
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude < 0x38800000U) {
    // Adding 0.5 aligns the value so that the sum's last mantissa bit weighs 2^-24, the step of subnormal halves.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3F000000U));
  }
  const std::uint32_t odd = magnitude >> 13 & 1U;
  return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000U + 0xFFFU + odd) >> 13);
}

// bf16 bits -> f32, subnormals kept.
constexpr float widen_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
// f32 -> bf16 bits, nearest even, subnormals to signed zero, any NaN -> 0x7fff.
constexpr std::uint16_t round_bf16(float value) {
  const std::uint32_t bits = flush_bits(std::bit_cast<std::uint32_t>(value));
  if (is_nan_bits(bits)) return kNan16;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

// Storage types of the 16-bit floats, so that templates can tell them from integers.
struct F16 {
  std::uint16_t bits;
};
struct Bf16 {
  std::uint16_t bits;
};

// How an arithmetic unit sees a stored element: load widens (and flushes what the chip flushes), round stores.
template <class T>
struct Wide {
  using type = T;
  static constexpr T load(T value) { return value; }
  static constexpr T round(T value) { return value; }
};
template <>
struct Wide<float> {
  using type = float;
  static constexpr float load(float value) { return flush(value); }
  static constexpr float round(float value) { return flush(value); }
};
template <>
struct Wide<F16> {
  using type = float;
  static constexpr float load(F16 value) { return widen_f16(value.bits); }
  static constexpr F16 round(float value) { return {round_f16(value)}; }
};
template <>
struct Wide<Bf16> {
  using type = float;
  static constexpr float load(Bf16 value) { return flush(widen_bf16(value.bits)); }
  static constexpr Bf16 round(float value) { return {round_bf16(value)}; }
};

}  // namespace softtpu
