// What reductions on the way cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/dma/reduce/command.hpp"

namespace softtpu {

// Not known: no measurement is published.
inline Work work_of(const CycleTerms&, const DmaReduceCmd&) { return {}; }

}  // namespace softtpu
