// SIMD rows of integer commands; nullptr where there is none.
#pragma once

#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"

namespace softtpu {

// Without a shift; all operands of the same type.
BinaryRow fast_int_row(IntMode mode, Dtype type, bool saturate);
// The same with operands that one element may stand for.
using RepeatedRow = void (*)(void* dst, RowOrOne a, RowOrOne b, int count);
RepeatedRow fast_repeated_int_row(IntMode mode, Dtype type, bool saturate);

}  // namespace softtpu
