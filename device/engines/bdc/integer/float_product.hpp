// Products of floats whose result has another type (golden bm1684x2/fused, bm1684x2/fp4): an IntArithCmd with floats.
#pragma once

#include "device/memory/memories.hpp"

namespace softtpu {

struct IntArithCmd;
void execute_float_product(const Memories& mem, const IntArithCmd& cmd);

}  // namespace softtpu
