// Commands with packed operands (device/command/packing.hpp).
#pragma once

#include "device/memory/memories.hpp"

namespace softtpu {

struct CastCmd;
void execute_packed(const Memories& mem, const CastCmd& cmd);

}  // namespace softtpu
