// The straightforward loops of poolings.

#include "device/bdc/pool_rows.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

template <class T>
float rounded(float value) {
  return Wide<T>::load(Wide<T>::round(value));
}

// A product as the 16-bit unit stores it. A bf16 product is rounded as if its exponent had no lower limit, and only
// then a result below the least normal number becomes zero.
template <class T>
float product(float a, float b) {
  return rounded<T>(a * b);
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
void add_products(float* sums, const float* values, float weight, int count) {
  for (int i = 0; i < count; ++i) sums[i] = rounded<T>(sums[i] + product<T>(values[i], weight));
}
template <>
void add_products<float>(float* sums, const float* values, float weight, int count) {
  for (int i = 0; i < count; ++i) {
    const float term = values[i] * weight;
    sums[i] = sums[i] + term;
  }
}

void add_products_int(std::uint32_t* sums, const std::uint32_t* values, std::uint32_t weight, int count) {
  for (int i = 0; i < count; ++i) sums[i] += values[i] * weight;
}

// The kept value's bits stay untouched, subnormals included (golden bm1684x/pool_fp/bdc_fp_max_pool2d/033). What is
// compared is flushed first: a compiler may turn `a > b ? a : b` into the CPU's max, which flushes what it hands on.
void take_max(float* best, const float* values, int count) {
  for (int i = 0; i < count; ++i) {
    if (!(flush(best[i]) > flush(values[i]))) best[i] = values[i];
  }
}
void take_min(float* best, const float* values, int count) {
  for (int i = 0; i < count; ++i) {
    if (!(flush(best[i]) < flush(values[i]))) best[i] = values[i];
  }
}

void widen_f16_row(const std::uint16_t* stored, float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = widen_f16(stored[i]);
}
void widen_bf16_row(const std::uint16_t* stored, float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = widen_bf16(stored[i]);
}

}  // namespace

const PoolRows kPlainPoolRows = {add_products<float>, add_products<F16>, add_products<Bf16>,
                                 add_products_int,    take_max,          take_min,
                                 widen_f16_row,       widen_bf16_row};

PoolRows pool_rows() { return plain_kernels() ? kPlainPoolRows : fast_pool_rows(); }

}  // namespace softtpu
