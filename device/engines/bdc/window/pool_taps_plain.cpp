// The straightforward loops over windows: one window after the other.
#include <algorithm>
#include <cmath>

#include "device/engines/bdc/window/pool_best.hpp"
#include "device/engines/bdc/window/pool_taps.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/by_type.hpp"
#include "device/numeric/float_modes.hpp"

namespace softtpu {
namespace {

template <class T>
T finished(float value) {
  if constexpr (std::is_same_v<T, float>) {
    // The payload of a NaN depends on the order in which a processor takes its operands: one NaN stands for all.
    return std::isnan(value) ? std::bit_cast<float>(kNanInvalid) : value;
  } else {
    return Wide<T>::round(value);
  }
}

template <class T>
float rounded(float value) {
  return Wide<T>::load(Wide<T>::round(value));
}
template <>
float rounded<float>(float value) {
  return value;
}

// A product as the unit of the type stores it. A bf16 product is rounded as if its exponent had no lower limit, and
// only then a result below the least normal number becomes zero.
template <class T>
float product(float a, float b) {
  return rounded<T>(float_product(a, b));
}
template <>
float product<Bf16>(float a, float b) {
  constexpr float kUp = 0x1p64F;
  const float value = a * b;
  // Where the product is so small, neither factor can overflow from being scaled.
  const float scaled = a * kUp * b;
  const float magnitude = scaled < 0 ? -scaled : scaled;
  const bool rounds_up = value == 0 && magnitude >= 0x1p-62F * (1 - 0x1p-9F) && magnitude < 0x1p-62F;
  if (rounds_up) return scaled < 0 ? -0x1p-126F : 0x1p-126F;
  return rounded<Bf16>(value);
}

template <class T>
void sum_floats(const TapRows<float>& taps, const float* weights, float even, float odd, void* out) {
  for (int i = 0; i < taps.count; ++i) {
    float sums[2] = {even, odd};
    for (int k = 0; k < taps.taps; ++k) {
      const float term = product<T>(taps.rows[k][i], weights[k]);
      sums[k % 2] = rounded<T>(sums[k % 2] + term);
    }
    static_cast<T*>(out)[i] = finished<T>(sums[0] + sums[1]);
  }
}

template <class P>
void sum_ints(const TapRows<P>& taps, const std::uint32_t* weights, std::uint32_t start, std::uint32_t* out) {
  for (int i = 0; i < taps.count; ++i) {
    out[i] = start;
    for (int k = 0; k < taps.taps; ++k) out[i] += static_cast<std::uint32_t>(taps.rows[k][i]) * weights[k];
  }
}

// The kept value's bits stay untouched, subnormals included (golden bm1684x/pool_fp/bdc_fp_max_pool2d/033). What is
// compared is flushed first: a compiler may turn `a > b ? a : b` into the CPU's max, which flushes what it hands on.
template <class T, bool kLargest, Equals kEquals>
bool stays(float kept, float value) {
  const float first = flush(kept), other = flush(value);
  if constexpr (kEquals == Equals::kLast) return kLargest ? first > other : first < other;
  if constexpr (!kLargest && (sizeof(T) == 2 || kEquals == Equals::kFirstTap)) return first <= other;
  return kLargest ? !(other > first) : !(other < first);
}

template <class T, bool kLargest, Equals kEquals>
void best(const void* const* rows, int taps, int count, void* out) {
  for (int i = 0; i < count; ++i) {
    Comparable<T> kept = first_best<T>(kLargest);
    if constexpr (kLargest && kEquals == Equals::kFirstTap) kept = static_cast<const Comparable<T>*>(rows[0])[i];
    for (int k = 0; k < taps; ++k) {
      const Comparable<T> value = static_cast<const Comparable<T>*>(rows[k])[i];
      if constexpr (std::is_integral_v<T>) {
        if (kLargest ? value > kept : value < kept) kept = value;
      } else {
        if (!stays<T, kLargest, kEquals>(kept, value)) kept = value;
      }
    }
    static_cast<T*>(out)[i] = restored<T>(kept);
  }
}

}  // namespace

PoolTaps plain_pool_taps() {
  return {sum_floats<float>,       sum_floats<F16>,       sum_floats<Bf16>,
          sum_ints<std::uint32_t>, sum_ints<std::int8_t>, sum_ints<std::uint8_t>};
}

BestRow plain_best_row(Dtype type, bool largest, Equals equals) {
  BestRow row = nullptr;
  const auto choose = [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      row = largest ? best<T, true, Equals::kLast> : best<T, false, Equals::kLast>;
    } else {
      row = for_equals(equals, [&]<Equals kEquals>() -> BestRow {
        return largest ? best<T, true, kEquals> : best<T, false, kEquals>;
      });
    }
  };
  is_fp8(type) ? for_fp8_type(type, choose) : for_any_type(type, choose);
  return row;
}

PoolTaps pool_taps() { return plain_kernels() ? plain_pool_taps() : fast_pool_taps(); }
BestRow best_row(Dtype type, bool largest, Equals equals) {
  return plain_kernels() ? plain_best_row(type, largest, equals) : fast_best_row(type, largest, equals);
}

}  // namespace softtpu
