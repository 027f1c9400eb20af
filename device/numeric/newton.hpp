// Reciprocal square root and quotient as the chip computes them: a first guess from the bits of the operand, then
// Newton steps, all in f32 (numerics: bm1684x-elementwise.md section 7; golden bm1684x/sfu_recip, fp_div).
//
// Where a chip has no special cases, what zero, infinity, negative numbers and NaN give follows from the steps.
// To be called inside an FpuScope.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "device/numeric/float_unit.hpp"
#include "device/numeric/root_ends.hpp"

namespace softtpu {

// The arithmetic of one step: Settled gives the chip's NaN, Unsettled any NaN. A NaN never becomes a number again in
// the computations below, so a result without NaN is the same under both, and Unsettled runs in vector registers.
struct Settled {
  static float add(float a, float b) { return chip_add(a, b); }
  static float sub(float a, float b) { return chip_sub(a, b); }
  static float mul(float a, float b) { return chip_mul(a, b); }
};
struct Unsettled {
  static float add(float a, float b) { return a + b; }
  static float sub(float a, float b) { return a - b; }
  static float mul(float a, float b) { return float_product(a, b); }
};

// Elements that are computed together; a fixed number lets the compiler use vector registers.
inline constexpr int kBlock = 32;
using Block = std::array<float, kBlock>;

inline bool has_nan(const Block& block) {
  std::uint32_t any = 0;
  for (const float value : block) any |= is_nan_bits(std::bit_cast<std::uint32_t>(value)) ? 1U : 0U;
  return any != 0;
}

// The block of compute(Arithmetic()) for elements of type T, by the quick arithmetic when that is enough: always for
// the 16-bit types, which store every NaN alike.
template <class T, class Compute>
Block settled(Compute compute) {
  const Block quick = compute(Unsettled());
  if constexpr (!std::is_same_v<T, float>) return quick;
  return has_nan(quick) ? compute(Settled()) : quick;
}

// The first guess for 1 / sqrt(x); the shift is arithmetic and sees the raw bits.
inline float rsqrt_guess(float raw) {
  const std::uint32_t halved = static_cast<std::uint32_t>(std::bit_cast<std::int32_t>(raw) >> 1);
  return std::bit_cast<float>(0x5F3759DFU - halved);
}

// The result of rsqrt at an operand where the steps are not followed, else `y`.
inline float rsqrt_end(float raw, float y) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(raw);
  if (bits == 0x7F800000U) return 0.0F;
  if ((bits & 0x7FFFFFFFU) == 0) return std::bit_cast<float>(0x7F800000U | bits);
  if (is_nan_bits(bits) || bits >= 0x80800000U) return std::bit_cast<float>(kNanInvalid);
  return y;
}

template <class Arithmetic>
Block rsqrt(const Block& raw, int iterations, RootEnds ends) {
  Block half;
  Block y;
  for (std::size_t i = 0; i < kBlock; ++i) {
    half[i] = Arithmetic::mul(flush(raw[i]), 0.5F);
    y[i] = rsqrt_guess(raw[i]);
  }
  for (int step = 0; step < iterations; ++step) {
    for (std::size_t i = 0; i < kBlock; ++i) {
      const float error = Arithmetic::mul(Arithmetic::mul(half[i], y[i]), y[i]);
      y[i] = Arithmetic::mul(y[i], Arithmetic::sub(1.5F, error));
    }
  }
  if (ends == RootEnds::kIeee)
    for (std::size_t i = 0; i < kBlock; ++i) y[i] = rsqrt_end(raw[i], y[i]);
  if (ends == RootEnds::kFlushed)
    for (std::size_t i = 0; i < kBlock; ++i) y[i] = rsqrt_end(flush(raw[i]), y[i]);
  return y;
}

// a / b = (1 / sqrt(|b|))^2 * a, with the sign of b moved to a (a NaN in b moves no sign).
template <class Arithmetic>
Block divide(const Block& a, const Block& b, int iterations, RootEnds ends) {
  Block magnitude;
  for (std::size_t i = 0; i < kBlock; ++i) {
    magnitude[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(b[i]) & 0x7FFFFFFFU);
  }
  Block quotient = rsqrt<Arithmetic>(magnitude, iterations, ends);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint32_t b_bits = std::bit_cast<std::uint32_t>(b[i]);
    const std::uint32_t sign = is_nan_bits(b_bits) ? 0U : b_bits & 0x80000000U;
    const std::uint32_t numerator = flush_bits(std::bit_cast<std::uint32_t>(a[i])) ^ sign;
    quotient[i] = Arithmetic::mul(Arithmetic::mul(quotient[i], quotient[i]), std::bit_cast<float>(numerator));
  }
  return quotient;
}

}  // namespace softtpu
