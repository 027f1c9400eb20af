// Vectors that every processor of its kind has, for the loops of non-maximum suppression, which are not compiled for
// several instruction sets.
#pragma once

#include <cstdint>

#include "device/numeric/float_modes.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

namespace softtpu {

#if defined(__x86_64__)

using FourFloats = __m128;

inline FourFloats four_times(float value) { return _mm_set1_ps(value); }
inline FourFloats load_four(const float* from) { return _mm_loadu_ps(from); }
inline void store_four(FourFloats values, float* to) { _mm_storeu_ps(to, values); }
inline FourFloats four_products(FourFloats a, FourFloats b) { return _mm_mul_ps(a, b); }
// `b` where it is not smaller, and where `a` is not a number.
inline FourFloats larger_of(FourFloats a, FourFloats b) { return _mm_max_ps(a, b); }

// The lowest bits of 16 bytes, the first in bit 0.
inline std::uint16_t low_bits_of_16(const std::uint8_t* bytes) {
  const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  return static_cast<std::uint16_t>(_mm_movemask_epi8(_mm_slli_epi16(part, 7)));  // of the highest bits
}

#else

using FourFloats = float32x4_t;

inline FourFloats four_times(float value) { return vdupq_n_f32(value); }
inline FourFloats load_four(const float* from) { return vld1q_f32(from); }
inline void store_four(FourFloats values, float* to) { vst1q_f32(to, values); }
inline FourFloats four_products(FourFloats a, FourFloats b) {
  FourFloats result = vmulq_f32(a, b);
  if (vmaxvq_u32(vceqzq_f32(result)) == 0) return result;
  for (int i = 0; i < 4; ++i) result[i] = float_product(a[i], b[i]);
  return result;
}
inline FourFloats larger_of(FourFloats a, FourFloats b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }

inline std::uint16_t low_bits_of_16(const std::uint8_t* bytes) {
  const uint8x16_t places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t bits = vandq_u8(vtstq_u8(vld1q_u8(bytes), vdupq_n_u8(1)), places);
  return static_cast<std::uint16_t>(vaddv_u8(vget_low_u8(bits)) | vaddv_u8(vget_high_u8(bits)) << 8);
}

#endif

}  // namespace softtpu
