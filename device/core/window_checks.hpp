// Rules that convolutions, depthwise convolutions and poolings share.
#pragma once

#include "device/core/checks.hpp"
#include "device/isa/commands/window.hpp"

namespace softtpu {

// Kernel, stride, dilation, insertion, padding, and the output that results.
void check_window(Checks& check, const Window& window, const Dim4& input, const Dim4& output);
// An operand in local memory that is read by elements; constants are always fine.
void check_stored(Checks& check, const char* name, const Operand& operand);
void check_beside(Checks& check, const char* name, const Operand& operand, const char* other, const Tensor& tensor);
// The output's sign: unsigned after relu, else that of the sum.
Checks& check_sign(Checks& check, Dtype output, bool sum_is_signed, bool relu);

}  // namespace softtpu
