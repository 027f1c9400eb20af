// Element-wise operations of BM1684X on single values, written from the numerics pages in exact arithmetic (doubles
// that hold every value, 128-bit integers), for comparison with the device. A value is given by its bits in its type.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu::reference {

__extension__ using Wide = __int128;

// The value of an integer's bits.
std::int64_t int_value(std::uint32_t bits, Dtype type);
// The low bits of a value in a type of that width.
std::uint32_t low_bits(Wide value, Dtype type);
Wide clamped(Wide value, Dtype type);
// value * 2^shift, rounded to an integer.
Wide shifted(Wide value, int shift, Rounding mode);
// `value` clamped or cut to `type`.
std::uint32_t finished(Wide value, bool saturate, Dtype type);

// max and min hand an operand through: its bits without f32 and bf16 subnormals.
std::uint32_t passed(std::uint32_t bits, Dtype type);
std::uint32_t max(std::uint32_t a, std::uint32_t b, Dtype type);
std::uint32_t min(std::uint32_t a, std::uint32_t b, Dtype type);
// 1: a > b, 0: equal, -1: everything else.
int compare(std::uint32_t a, std::uint32_t b, Dtype type);

// A finite value rounded to an integer in one of the modes 0..4, the sign of a zero kept.
double rounded(double value, Rounding mode);
std::uint32_t round_float(std::uint32_t bits, Dtype type, Rounding mode);
// tpu_bdc_cast.
std::uint32_t convert(std::uint32_t bits, Dtype to, Dtype from, Rounding mode);

}  // namespace softtpu::reference
