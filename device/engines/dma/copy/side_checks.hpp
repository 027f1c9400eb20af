// Rules of one side of a copy, which copies that compute share.
#pragma once

#include "device/command/checks.hpp"

namespace softtpu {

void check_unit_w_stride(Checks& check, const char* name, const Tensor& side);
void check_side(Checks& check, const char* name, const Tensor& side, Access access);

}  // namespace softtpu
