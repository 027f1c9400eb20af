// What (de)quantisation with floats cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/convert/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const FloatQuantCmd& cmd) { return at.quantise(cmd.dst, cmd.src); }

}  // namespace softtpu
