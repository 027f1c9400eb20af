// The straightforward loops that load rows of operands.
#include <cstddef>
#include <cstring>

#include "device/engines/bdc/product/load_rows.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

void widen_f16_row(const std::uint16_t* stored, float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = widen_f16(stored[i]);
}
void widen_bf16_row(const std::uint16_t* stored, float* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = widen_bf16(stored[i]);
}

template <class T>
void round_row(const float* values, std::uint16_t* stored, int count) {
  for (int i = 0; i < count; ++i) stored[i] = Wide<T>::round(values[i]).bits;
}

template <class T>
void widen_bytes(const T* stored, std::uint32_t* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(stored[i]);
}

template <std::size_t kBytes>
void split(const void* row, int pairs, void* even, void* odd) {
  const auto* from = static_cast<const std::uint8_t*>(row);
  auto *first = static_cast<std::uint8_t*>(even), *second = static_cast<std::uint8_t*>(odd);
  for (int i = 0; i < pairs; ++i, first += kBytes, second += kBytes, from += 2 * kBytes) {
    std::memcpy(first, from, kBytes);
    std::memcpy(second, from + kBytes, kBytes);
  }
}

}  // namespace

const LoadRows kPlainLoadRows = {widen_f16_row, widen_bf16_row, round_row<F16>, round_row<Bf16>,
                                 widen_bytes,   widen_bytes,    split<1>,       split<4>};

const LoadRows& load_rows() { return plain_kernels() ? kPlainLoadRows : fast_load_rows(); }

}  // namespace softtpu
