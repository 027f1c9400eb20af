// Chips on which every f32 NaN that is computed is the same one (device/chip/rules.def: one-f32-nan).
#pragma once

#include "device/isa/types.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

// Puts that NaN in the place of every NaN of a result in local memory, where the rule holds and the result is f32.
void unify_nans(Memories& mem, const Tensor& dst);

}  // namespace softtpu
