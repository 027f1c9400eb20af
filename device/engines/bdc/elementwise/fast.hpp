// SIMD rows of element-wise commands; nullptr where there is none.
#pragma once

#include "device/engines/bdc/elementwise/command.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"
#include "device/numeric/convert.hpp"

namespace softtpu {

BinaryRow fast_arith_row(ArithMode mode, Dtype type);
TernaryRow fast_scale_bias_row(Dtype type, bool element_first);  // src, scale, bias; whose NaN survives
TernaryRow fast_mac_row();                                       // a, b, old; f32
// sign_of_bits: device/chip/rules.def.
UnaryRow fast_unary_row(UnaryMode mode, Rounding rounding, Dtype type, Specials specials, bool sign_of_bits);

}  // namespace softtpu
