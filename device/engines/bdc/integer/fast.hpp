// SIMD rows of integer commands; nullptr where there is none.
#pragma once

#include "device/engines/bdc/integer/command.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"
#include "device/numeric/shift.hpp"

namespace softtpu {

// Without a shift; all operands of the same type.
BinaryRow fast_int_row(IntMode mode, Dtype type, bool saturate);
// The same with operands that one element may stand for.
using RepeatedRow = void (*)(void* dst, RowOrOne a, RowOrOne b, int count);
RepeatedRow fast_repeated_int_row(IntMode mode, Dtype type, bool saturate);

// The end of results that are shifted by a constant and limited. The lanes of the row hold every value on the way.
struct NarrowShift {
  RoundedShift steps;
  std::int32_t low, high;
};
// What one lane takes at most: places to the left and to the right.
struct ShiftReach {
  int left, right;
};
using ShiftedRow = void (*)(const NarrowShift& end, void* dst, const void* a, const void* b, int count);
struct ShiftedInts {
  ShiftedRow row = nullptr;
  ShiftReach reach{};
};
// All operands have the size of `a`, 1 or 2 bytes.
ShiftedInts fast_shifted_ints(IntMode mode, Dtype a, Dtype b);

}  // namespace softtpu
