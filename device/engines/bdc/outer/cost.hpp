// What vector by vector commands cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/outer/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const OuterCmd& cmd) { return at.by_operands(cmd); }

}  // namespace softtpu
