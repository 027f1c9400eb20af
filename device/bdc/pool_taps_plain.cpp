// The straightforward loops over windows: one window after the other.
#include <cmath>

#include "device/bdc/pool_best.hpp"
#include "device/bdc/pool_rows.hpp"
#include "device/bdc/pool_taps.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/by_type.hpp"

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
auto add_products() {
  if constexpr (std::is_same_v<T, float>) return kPlainPoolRows.add_products_f32;
  if constexpr (std::is_same_v<T, F16>) return kPlainPoolRows.add_products_f16;
  if constexpr (std::is_same_v<T, Bf16>) return kPlainPoolRows.add_products_bf16;
}

template <class T>
void sum_floats(const TapRows<float>& taps, const float* weights, float even, float odd, void* out) {
  for (int i = 0; i < taps.count; ++i) {
    float sums[2] = {even, odd};
    for (int k = 0; k < taps.taps; ++k) add_products<T>()(&sums[k % 2], taps.rows[k] + i, weights[k], 1);
    static_cast<T*>(out)[i] = finished<T>(sums[0] + sums[1]);
  }
}

void sum_ints(const TapRows<std::uint32_t>& taps, const std::uint32_t* weights, std::uint32_t start,
              std::uint32_t* out) {
  for (int i = 0; i < taps.count; ++i) {
    out[i] = start;
    for (int k = 0; k < taps.taps; ++k) out[i] += taps.rows[k][i] * weights[k];
  }
}

template <class T, bool kLargest>
void best(const void* const* rows, int taps, int count, void* out) {
  for (int i = 0; i < count; ++i) {
    Comparable<T> kept = first_best<T>(kLargest);
    for (int k = 0; k < taps; ++k) {
      const Comparable<T> value = static_cast<const Comparable<T>*>(rows[k])[i];
      if constexpr (std::is_integral_v<T>) {
        if (kLargest ? value > kept : value < kept) kept = value;
      } else {
        (kLargest ? kPlainPoolRows.take_max : kPlainPoolRows.take_min)(&kept, &value, 1);
      }
    }
    static_cast<T*>(out)[i] = restored<T>(kept);
  }
}

}  // namespace

PoolTaps plain_pool_taps() { return {sum_floats<float>, sum_floats<F16>, sum_floats<Bf16>, sum_ints}; }

BestRow plain_best_row(Dtype type, bool largest) {
  BestRow row = nullptr;
  for_any_type(type, [&]<class T>(T) { row = largest ? best<T, true> : best<T, false>; });
  return row;
}

PoolTaps pool_taps() { return plain_kernels() ? plain_pool_taps() : fast_pool_taps(); }
BestRow best_row(Dtype type, bool largest) {
  return plain_kernels() ? plain_best_row(type, largest) : fast_best_row(type, largest);
}

}  // namespace softtpu
