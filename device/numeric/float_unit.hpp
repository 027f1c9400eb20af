// The chip's f32 unit: IEEE single, nearest even, subnormals as zero on input and output, and its own NaN rules.
//
// The CPU does the rounding: FpuScope switches flush-to-zero and denormals-are-zero on while commands execute, so a
// plain `a + b` has the chip's tininess rule (after rounding, unbounded exponent). NaN results are chosen explicitly
// because a compiler may exchange the operands of + and *.
#pragma once

#include <bit>
#include <cstdint>

#include "device/numeric/float_modes.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {

// The NaN of an operation on (a, b) that gave `result`: the first operand that is a NaN, made quiet; an invalid
// operation on numbers gives 0xffc00000; anything else is the result.
inline float settle_nan(float result, float a, float b) {
  const std::uint32_t a_bits = std::bit_cast<std::uint32_t>(a);
  const std::uint32_t b_bits = std::bit_cast<std::uint32_t>(b);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(result);
  bits = is_nan_bits(bits) ? kNanInvalid : bits;
  bits = is_nan_bits(b_bits) ? quiet(b_bits) : bits;
  bits = is_nan_bits(a_bits) ? quiet(a_bits) : bits;
  return std::bit_cast<float>(bits);
}

// Operands are already loaded (subnormals flushed); to be called inside an FpuScope.
inline float chip_add(float a, float b) { return settle_nan(a + b, a, b); }
inline float chip_sub(float a, float b) { return settle_nan(a - b, a, b); }
inline float chip_mul(float a, float b) { return settle_nan(float_product(a, b), a, b); }

}  // namespace softtpu
