// The processor's float modes while commands execute, and the one operation in which processors differ then.
//
// The chip rounds to 24 bits with any exponent and then makes a zero of what is below 2^-126. x86-64 does that by
// itself (MXCSR: flush to zero, denormals are zero). aarch64 (FPCR.FZ) looks before it rounds: an exact result in
// [2^-126 - 2^-151, 2^-126), which rounds to 2^-126, becomes zero. Sums and differences that small are exact, and a
// quotient of two floats never lies there, as its mantissa is at most 1 - 2^-24 of the next power of two. That leaves
// products of two floats with more than 12 bits each: float_product() here, and product() of
// device/engines/bdc/rows/simd.hpp for vectors. No fused operation is used in single precision.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif !defined(__aarch64__)
#error "softtpu knows the float modes of x86-64 and aarch64"
#endif

namespace softtpu {

#if defined(__x86_64__)

inline constexpr bool kFlushesBeforeRounding = false;

// Sets the CPU's float modes to the chip's for a scope, in this thread.
class FpuScope {
 public:
  FpuScope() : saved_(_mm_getcsr()) { _mm_setcsr((saved_ & ~0x6000U) | 0x8040U | 0x1F80U); }
  ~FpuScope() { _mm_setcsr(saved_); }
  FpuScope(const FpuScope&) = delete;
  FpuScope& operator=(const FpuScope&) = delete;

 private:
  unsigned saved_;
};

#else

inline constexpr bool kFlushesBeforeRounding = true;

class FpuScope {
 public:
  FpuScope() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved_)::"memory");
    // To nearest, IEEE halves, NaNs handed on, no traps; bit 24 flushes subnormal operands and results.
    __asm__ volatile("msr fpcr, %0" : : "r"(std::uint64_t{1} << 24) : "memory");
  }
  ~FpuScope() { __asm__ volatile("msr fpcr, %0" : : "r"(saved_) : "memory"); }
  FpuScope(const FpuScope&) = delete;
  FpuScope& operator=(const FpuScope&) = delete;

 private:
  std::uint64_t saved_ = 0;
};

#endif

// The bits of what a product is that the processor has made a zero of: 2^-126 where the exact one rounds to that.
inline std::uint32_t vanished_product(float a, float b) {
  const float size_a = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0x7FFFFFFFU);
  const float size_b = std::bit_cast<float>(std::bit_cast<std::uint32_t>(b) & 0x7FFFFFFFU);
  const std::uint32_t sign = (std::bit_cast<std::uint32_t>(a) ^ std::bit_cast<std::uint32_t>(b)) & 0x80000000U;
  const float small = size_a < size_b ? size_a : size_b, large = size_a < size_b ? size_b : size_a;
  // The smaller one is below 2^-63.
  return sign | (small * 0x1p100F * large >= 0x1p-26F ? 0x00800000U : 0U);
}

// a * b, to be called inside an FpuScope.
inline float float_product(float a, float b) {
  const float result = a * b;
  if constexpr (kFlushesBeforeRounding) {
    if (result == 0) return std::bit_cast<float>(vanished_product(a, b));
  }
  return result;
}

}  // namespace softtpu
