// fp16 on the host, for compilers without such a type. To nearest even; values beyond 65504 are the caller's mistake.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef uint16_t half_t;

static inline half_t to_half(float value) {
  const float size = fabsf(value);
  uint32_t bits;
  memcpy(&bits, &size, sizeof bits);
  const uint32_t sign = value < 0 ? 0x8000u : 0u;
  if (size < 6.103515625e-05f) return (half_t)(sign | (uint32_t)nearbyintf(size * 16777216.0f));  // counts of 2^-24
  const uint32_t rounded = bits + 0xFFFu + (bits >> 13 & 1u);
  return (half_t)(sign | ((rounded >> 13) - (112u << 10)));
}

static inline float from_half(half_t half) {
  const int exponent = half >> 10 & 0x1F;
  const int fraction = half & 0x3FF;
  const float size = exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction | 0x400), exponent - 25);
  return half & 0x8000 ? -size : size;
}

// The same without subnormals, which BM1684X2 takes for zeros and does not store.
static inline half_t to_flushed_half(float value) {
  const half_t half = to_half(value);
  return (half & 0x7C00) == 0 ? half & 0x8000 : half;
}
