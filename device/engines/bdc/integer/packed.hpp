// Commands with packed operands (device/command/packing.hpp).
#pragma once

#include "device/memory/memories.hpp"

namespace softtpu {

struct IntArithCmd;
void execute_packed(const Memories& mem, const IntArithCmd& cmd);

}  // namespace softtpu
