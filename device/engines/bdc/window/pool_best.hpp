// Elements of poolings: how they are read, what a maximum or minimum starts with, and back to what was stored.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/numeric/formats.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu {

// Elements as the loops compare them: floats as f32, integers as they are.
template <class T>
using Comparable = std::conditional_t<std::is_integral_v<T>, T, float>;

template <class T>
constexpr bool kIsFp8 = std::is_same_v<T, E4m3> || std::is_same_v<T, E5m2>;

// A stored element as a pooling reads it: as loaded(), but a bf16 subnormal stays, because a maximum hands it on.
template <class P, class T>
P as_read(T value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return widen_bf16(value.bits);
  } else {
    return loaded<P>(value);
  }
}

// What the first tap is compared with: the lowest finite value for a maximum, the highest for a minimum.
template <class T>
constexpr Comparable<T> first_best(bool largest) {
  using P = Comparable<T>;
  P highest = std::numeric_limits<P>::max();
  P lowest = std::numeric_limits<P>::lowest();
  if constexpr (std::is_same_v<T, F16>) lowest = -(highest = 65504.0F);
  if constexpr (std::is_same_v<T, Bf16>) lowest = -(highest = widen_bf16(0x7F7F));
  if constexpr (kIsFp8<T>) lowest = -(highest = widen_fp8(T{Fp8Format<T>::kLargest}));
  return largest ? lowest : highest;
}

// choose.operator()<kEquals>() of what is known at run time only.
template <class Choose>
BestRow for_equals(Equals equals, Choose choose) {
  if (equals == Equals::kLast) return choose.template operator()<Equals::kLast>();
  if (equals == Equals::kFirst) return choose.template operator()<Equals::kFirst>();
  return choose.template operator()<Equals::kFirstTap>();
}

// Back to what was stored, with every bit of a NaN; f32 subnormals are flushed.
template <class T>
T restored(Comparable<T> value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if constexpr (std::is_same_v<T, F16>) {
      if (!is_nan_bits(bits)) return {round_f16(value)};
      return {static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | 0x7C00U | (bits >> 13 & 0x3FFU))};
    }
    if constexpr (std::is_same_v<T, Bf16>) return {static_cast<std::uint16_t>(bits >> 16)};
    // The payload of a widened NaN ends with what was stored.
    if constexpr (kIsFp8<T>) return is_nan_bits(bits) ? T{static_cast<std::uint8_t>(bits)} : Wide<T>::round(value);
    if constexpr (std::is_same_v<T, float>) return flush(value);
  }
}

}  // namespace softtpu
