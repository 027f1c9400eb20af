// What reductions on the way cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/dma/reduce/command.hpp"

namespace softtpu {

// No measurement is published: as a copy that does not compute.
inline Work work_of(const CycleTerms& at, const DmaReduceCmd& cmd) {
  return {.cycles = at.model().stream(at.path(cmd.dst, cmd.src), at.bytes_of(cmd.src))};
}

}  // namespace softtpu
