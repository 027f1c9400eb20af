// Reciprocal square root and quotient of 16-bit floats as chips compute them that round each Newton step to the type
// (RootEnds::kInType; golden bm1688/new_ew): the first guess comes from the 16 bits, and zeros, infinities, negative
// numbers and NaNs give what IEEE wants; subnormals of either sign follow the steps.
// To be called inside an FpuScope.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/numeric/narrow.hpp"

namespace softtpu {

// An f16 whose subnormals are zeros, in every step (device/chip/rules.def: f16-subnormals-are-zeros).
struct FlushedF16 {
  std::uint16_t bits;
};
template <>
struct Wide<FlushedF16> {
  using type = float;
  static constexpr std::uint16_t flushed(std::uint16_t bits) {
    return (bits & 0x7C00U) == 0 ? static_cast<std::uint16_t>(bits & 0x8000U) : bits;
  }
  static constexpr float load(FlushedF16 value) { return widen_f16(flushed(value.bits)); }
  static constexpr FlushedF16 round(float value) { return {flushed(round_f16(value))}; }
};

template <>
inline float narrow<FlushedF16>(float value) {
  constexpr float kLeastNormal = 0x1p-14F;
  const float rounded = narrow<F16>(value);
  return rounded < kLeastNormal && rounded > -kLeastNormal ? std::copysign(0.0F, rounded) : rounded;
}

template <class T>
struct HalfFormat;
template <>
struct HalfFormat<FlushedF16> {
  static constexpr std::uint16_t kGuess = 0x59BA, kInfinity = 0x7C00, kLeastNormal = 0x0400;
};
template <>
struct HalfFormat<F16> {
  static constexpr std::uint16_t kGuess = 0x59BA, kInfinity = 0x7C00, kLeastNormal = 0x0400;
};
template <>
struct HalfFormat<Bf16> {
  static constexpr std::uint16_t kGuess = 0x5F37, kInfinity = 0x7F80, kLeastNormal = 0x0080;
};

// 1 / sqrt(x).
template <class T>
float inverse_root_in_type(T x, int iterations) {
  using Format = HalfFormat<T>;
  const unsigned magnitude = x.bits & 0x7FFFU, sign = x.bits & 0x8000U;
  if (magnitude == 0)
    return sign != 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  if (x.bits == Format::kInfinity) return 0;
  if (magnitude > Format::kInfinity || (sign != 0 && magnitude >= Format::kLeastNormal)) {
    return std::bit_cast<float>(kNanInvalid);
  }
  const float half = narrow<T>(Wide<T>::load(x) * 0.5F);
  float y = Wide<T>::load(T{static_cast<std::uint16_t>(Format::kGuess - (x.bits >> 1U))});
  for (int step = 0; step < iterations; ++step) {
    const float error = narrow<T>(narrow<T>(half * y) * y);
    y = narrow<T>(y * narrow<T>(1.5F - error));
  }
  return y;
}

// Before they are stored in the type.
template <class T>
float root_in_type(T x, int iterations) {
  if ((x.bits & 0x7FFFU) == 0) return Wide<T>::load(x);
  return inverse_root_in_type(x, iterations) * Wide<T>::load(x);
}
template <class T>
float quotient_in_type(T a, T b, int iterations) {
  const auto magnitude = static_cast<std::uint16_t>(b.bits & 0x7FFFU);
  const auto sign = static_cast<std::uint16_t>(magnitude > HalfFormat<T>::kInfinity ? 0U : b.bits & 0x8000U);
  const float inverse = inverse_root_in_type(T{magnitude}, iterations);
  return narrow<T>(inverse * inverse) * Wide<T>::load(T{static_cast<std::uint16_t>(a.bits ^ sign)});
}

}  // namespace softtpu
