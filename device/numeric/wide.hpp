// Elements of any data type handled as one wide type W: an integer (its value, or a float's bits) or an f32 (as the
// arithmetic unit loads it).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "device/isa/types.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/formats.hpp"
#include "device/numeric/fp8.hpp"

namespace softtpu {

template <class W, class T>
constexpr W widen(T value) {
  if constexpr (std::is_same_v<W, float>) {
    return Wide<T>::load(value);
  } else if constexpr (std::is_same_v<T, float>) {
    return static_cast<W>(std::bit_cast<std::uint32_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<W>(value);
  } else {
    return static_cast<W>(value.bits);
  }
}

// An integer W stores its low bits; an f32 is rounded as the arithmetic unit stores it.
template <class T, class W>
constexpr T narrow(W value) {
  if constexpr (std::is_same_v<W, float>) {
    return Wide<T>::round(value);
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    return {static_cast<std::uint16_t>(value)};
  }
}

// Reads `count` elements, `step` apart, into an array of W; and back.
template <class W>
using RowReader = void (*)(W* out, const std::uint8_t* row, std::int64_t step, int count);
template <class W>
using RowWriter = void (*)(std::uint8_t* row, std::int64_t step, const W* in, int count);

template <class W>
RowReader<W> row_reader(Dtype type) {
  RowReader<W> reader = nullptr;
  const auto choose = [&]<class T>(T) {
    reader = [](W* out, const std::uint8_t* row, std::int64_t step, int count) {
      const T* in = reinterpret_cast<const T*>(row);
      if (step == 1) {
        for (int i = 0; i < count; ++i) out[i] = widen<W>(in[i]);
      } else {
        for (int i = 0; i < count; ++i) out[i] = widen<W>(in[i * step]);
      }
    };
  };
  if constexpr (std::is_same_v<W, float>) {
    is_fp8(type) ? for_fp8_type(type, choose) : for_float_type(type, choose);
  } else {
    for_any_type(is_fp8(type) ? Dtype::kUint8 : type, choose);
  }
  return reader;
}

template <class W>
RowWriter<W> row_writer(Dtype type) {
  RowWriter<W> writer = nullptr;
  const auto choose = [&]<class T>(T) {
    writer = [](std::uint8_t* row, std::int64_t step, const W* in, int count) {
      T* out = reinterpret_cast<T*>(row);
      if (step == 1) {
        for (int i = 0; i < count; ++i) out[i] = narrow<T>(in[i]);
      } else {
        for (int i = 0; i < count; ++i) out[i * step] = narrow<T>(in[i]);
      }
    };
  };
  if constexpr (std::is_same_v<W, float>) {
    for_float_type(type, choose);
  } else {
    for_any_type(is_fp8(type) ? Dtype::kUint8 : type, choose);
  }
  return writer;
}

}  // namespace softtpu
