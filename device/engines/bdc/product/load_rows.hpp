// Loops that bring rows of operands into the form that products, convolutions and poolings take, and float results into
// that of 16 bits: plain or SIMD.
#pragma once

#include <cstdint>

namespace softtpu {

struct LoadRows {
  // Stored 16-bit floats as f32, with every bit of a NaN and with bf16 subnormals (the float unit flushes operands).
  void (*widen_f16)(const std::uint16_t* stored, float* values, int count);
  void (*widen_bf16)(const std::uint16_t* stored, float* values, int count);
  // f32 as the arithmetic unit stores it: Wide<F16>::round() and Wide<Bf16>::round().
  void (*round_f16)(const float* values, std::uint16_t* stored, int count);
  void (*round_bf16)(const float* values, std::uint16_t* stored, int count);
  // Bytes as 32-bit words, signed ones with their sign.
  void (*widen_s8)(const std::int8_t* stored, std::uint32_t* values, int count);
  void (*widen_u8)(const std::uint8_t* stored, std::uint32_t* values, int count);
  // Elements 0, 2 ... and 1, 3 ... of 2 * `pairs` elements of one byte or of four.
  void (*split_bytes)(const void* row, int pairs, void* even, void* odd);
  void (*split_words)(const void* row, int pairs, void* even, void* odd);
};

extern const LoadRows kPlainLoadRows;
// The loops with SIMD instructions of the best instruction set that may be used (kernel_choice.hpp).
const LoadRows& fast_load_rows();
// Those that the process has chosen.
const LoadRows& load_rows();

}  // namespace softtpu
