// The chip's float formats and f32 arithmetic, written from the numerics pages in double precision and integer
// arithmetic, for comparison with the device. A value is given by its bits in its type.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu::reference {

// What the arithmetic unit sees of stored bits: an f32, subnormals of f32 and bf16 as zero.
float loaded(std::uint32_t bits, Dtype type);
// What it stores of a result.
std::uint32_t stored(float value, Dtype type);
// The value of stored bits, subnormals kept.
double value_of(std::uint32_t bits, Dtype type);

// One f32 operation: nearest even, subnormal results zero, the NaN of the first operand that is one.
float add(float a, float b);
float sub(float a, float b);
float mul(float a, float b);

}  // namespace softtpu::reference
