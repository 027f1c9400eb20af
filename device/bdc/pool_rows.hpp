// Loops over arrays that poolings, depthwise convolutions and the loading of operands are made of: plain or SIMD.
#pragma once

#include <cstdint>

namespace softtpu {

struct PoolRows {
  // sums[i] = round(sums[i] + round(values[i] * weight)), rounding to f32, f16 or bf16; arrays hold f32.
  void (*add_products_f32)(float* sums, const float* values, float weight, int count);
  void (*add_products_f16)(float* sums, const float* values, float weight, int count);
  void (*add_products_bf16)(float* sums, const float* values, float weight, int count);
  // sums[i] += values[i] * weight, modulo 2^32.
  void (*add_products_int)(std::uint32_t* sums, const std::uint32_t* values, std::uint32_t weight, int count);
  // best[i] = best[i] > values[i] ? best[i] : values[i] (max), or with < (min): the chip's float comparison on f32.
  void (*take_max)(float* best, const float* values, int count);
  void (*take_min)(float* best, const float* values, int count);
  // Stored 16-bit floats as f32, with every bit of a NaN and with bf16 subnormals (the float unit flushes operands).
  void (*widen_f16)(const std::uint16_t* stored, float* values, int count);
  void (*widen_bf16)(const std::uint16_t* stored, float* values, int count);
};

extern const PoolRows kPlainPoolRows;
// The loops with SIMD instructions of the best instruction set that may be used (kernel_choice.hpp).
PoolRows fast_pool_rows();
// Those that the process has chosen.
PoolRows pool_rows();

}  // namespace softtpu
