// Chips on which every f32 NaN that is computed is the same one (device/chip/rules.def: one-f32-nan).
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {

// Puts that NaN in the place of every NaN of a result in local memory, where the rule holds and the result is f32.
void unify_nans(Memories& mem, const Tensor& dst);

// The same for adjacent words, for commands that do it row by row. nullptr: there is nothing to do.
using UnifyRow = void (*)(std::uint32_t* words, int count);
UnifyRow unify_row_of(const Memories& mem, const Tensor& dst);
// With the best instruction set; nullptr: there is none.
UnifyRow fast_unify_row();

}  // namespace softtpu
