// Rounds an f32 to the values of a narrower type and leaves it an f32: what a step between two steps does to a value
// that would be stored and loaded again. Without branches, so that loops over blocks run in vector registers.
// To be called inside an FpuScope. A NaN stays some NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "device/numeric/formats.hpp"

namespace softtpu {

template <class T>
float narrow(float value);

// The result of an f32 operation has the chip's range already.
template <>
inline float narrow<float>(float value) {
  return value;
}

template <>
inline float narrow<F16>(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits & 0x80000000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t nearest = (magnitude + 0xFFFU + (magnitude >> 13 & 1U)) & ~0x1FFFU;
  const std::uint32_t large = magnitude > 0x7F800000U ? magnitude : 0x7F800000U;
  const std::uint32_t normal = nearest >= 0x47800000U ? large : nearest;
  // 1/2 aligns the sum to 2^-24, the step of subnormal halves.
  const float aligned = (std::bit_cast<float>(magnitude) + 0.5F) - 0.5F;
  // Chosen by a mask: a compiler would put the sum into a branch, and branches keep a loop out of vector registers.
  const std::uint32_t small = 0U - static_cast<std::uint32_t>(magnitude < 0x38800000U);
  const std::uint32_t result = (std::bit_cast<std::uint32_t>(aligned) & small) | (normal & ~small);
  return std::bit_cast<float>(result | sign);
}

template <>
inline float narrow<Bf16>(float value) {
  const std::uint32_t bits = flush_bits(std::bit_cast<std::uint32_t>(value));
  const std::uint32_t nearest = (bits + 0x7FFFU + (bits >> 16 & 1U)) & 0xFFFF0000U;
  return std::bit_cast<float>(is_nan_bits(bits) ? bits : nearest);
}

}  // namespace softtpu
