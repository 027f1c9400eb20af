// What (de)quantisation with integers cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/integer/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const IntQuantCmd& cmd) { return at.quantise(cmd.dst, cmd.src); }

}  // namespace softtpu
