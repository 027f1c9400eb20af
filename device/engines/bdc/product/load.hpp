// How stored elements enter the sums of matrix products and convolutions.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/engines/bdc/product/load_rows.hpp"
#include "device/isa/types.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {

// A float as f32 (an f32 stays as it is: the float unit flushes operands), an integer as its bits or widened.
template <class In, class T>
In loaded(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<In, float>) {
    return Wide<T>::load(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<In>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<In>(value);
  }
}

// loaded() for `count` neighbours.
template <class In, class T>
void load_run(const T* stored, In* values, int count) {
  if constexpr (std::is_same_v<In, T>) {
    std::memcpy(values, stored, sizeof(T) * static_cast<unsigned>(count));
  } else if constexpr (std::is_same_v<In, float> && std::is_same_v<T, F16>) {
    load_rows().widen_f16(&stored->bits, values, count);
  } else if constexpr (std::is_same_v<In, float> && std::is_same_v<T, Bf16>) {
    load_rows().widen_bf16(&stored->bits, values, count);
  } else if constexpr (std::is_same_v<In, std::uint32_t> && std::is_same_v<T, std::int8_t>) {
    load_rows().widen_s8(stored, values, count);
  } else if constexpr (std::is_same_v<In, std::uint32_t> && std::is_same_v<T, std::uint8_t>) {
    load_rows().widen_u8(stored, values, count);
  } else {
    for (int i = 0; i < count; ++i) values[i] = loaded<In>(stored[i]);
  }
}

// From half of kMost bytes to all of them, in two parts that may overlap.
template <unsigned kMost>
void copy_halves(const void* from, unsigned bytes, void* to) {
  struct Half {
    unsigned char bytes[kMost / 2];
  } first, last;
  std::memcpy(&first, from, sizeof first);
  std::memcpy(&last, static_cast<const unsigned char*>(from) + bytes - sizeof last, sizeof last);
  std::memcpy(to, &first, sizeof first);
  std::memcpy(static_cast<unsigned char*>(to) + bytes - sizeof last, &last, sizeof last);
}

// Runs are mostly a few elements long: the usual lengths are copied without a loop, and others below a cache line
// without a call.
template <class T>
void copy_run(const T* from, int run, T* to) {
  const unsigned bytes = static_cast<unsigned>(run) * sizeof(T);
  switch (run) {
    case 1: *to = *from; return;
    case 2: std::memcpy(to, from, 2 * sizeof(T)); return;
    case 4: std::memcpy(to, from, 4 * sizeof(T)); return;
    case 8: std::memcpy(to, from, 8 * sizeof(T)); return;
    case 16: std::memcpy(to, from, 16 * sizeof(T)); return;
    default: break;
  }
  if (bytes > 64 || bytes < 4) return static_cast<void>(std::memcpy(to, from, bytes));
  if (bytes > 32) return copy_halves<64>(from, bytes, to);
  if (bytes > 16) return copy_halves<32>(from, bytes, to);
  if (bytes > 8) return copy_halves<16>(from, bytes, to);
  copy_halves<8>(from, bytes, to);
}

// The same for `rows` runs of one length. Later ones are asked for: a run mostly fills only part of a cache line, and
// processors bring by themselves what follows without a gap.
template <class T>
void copy_runs(const T* from, std::int64_t from_step, int rows, int run, T* to, std::int64_t to_step) {
  constexpr int kAhead = 16;
  const auto copy = [=](const auto size) {
    for (int i = 0; i < rows; ++i) {
      __builtin_prefetch(from + (i + kAhead) * from_step);
      std::memcpy(to + i * to_step, from + i * from_step, size * sizeof(T));
    }
  };
  switch (run) {
    case 1: return copy(std::integral_constant<unsigned, 1>());
    case 2: return copy(std::integral_constant<unsigned, 2>());
    case 4: return copy(std::integral_constant<unsigned, 4>());
    case 8: return copy(std::integral_constant<unsigned, 8>());
    case 16: return copy(std::integral_constant<unsigned, 16>());
    default: return copy(static_cast<unsigned>(run));
  }
}

// Results of a float product to neighbours; a NaN of 16 bits is 0x7fff, or with its sign.
template <class T>
void store_run(const float* values, int run, T* to, bool nan_sign = false) {
  if constexpr (std::is_same_v<T, float>) {
    copy_run(values, run, to);
  } else {
    // Shorter ones take longer to call for than to round.
    constexpr int kVector = 16;
    if (sizeof(T) == 2 && run >= kVector) {
      if constexpr (std::is_same_v<T, F16>) load_rows().round_f16(values, &to->bits, run);
      if constexpr (std::is_same_v<T, Bf16>) load_rows().round_bf16(values, &to->bits, run);
    } else {
      for (int i = 0; i < run; ++i) to[i] = Wide<T>::round(values[i]);
    }
    if constexpr (sizeof(T) == 2) {
      for (int i = 0; i < run && nan_sign; ++i) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[i]);
        to[i].bits |= static_cast<std::uint16_t>(is_nan_bits(bits) ? bits >> 16 & 0x8000U : 0U);
      }
    }
  }
}

// The value of a constant operand in the type of its tensors.
template <class T>
T constant(const Scalar& scalar) {
  T value;
  std::memcpy(&value, &scalar.bits, sizeof(value));
  return value;
}

inline Dtype dtype_of(const Operand& operand) {
  const auto* tensor = std::get_if<Tensor>(&operand);
  return tensor != nullptr ? tensor->dtype : std::get<Scalar>(operand).dtype;
}

}  // namespace softtpu
