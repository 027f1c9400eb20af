// What element-wise commands that are not one plain pass cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/elementwise/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const MacCmd& cmd) { return {StartUp::kLinear, at.plain(cmd.dst)}; }
inline Work work_of(const CycleTerms& at, const ScaleBiasCmd& cmd) { return {StartUp::kLinear, at.plain(cmd.dst)}; }
inline Work work_of(const CycleTerms& at, const MixedArithCmd& cmd) { return at.by_operands(cmd); }

}  // namespace softtpu
