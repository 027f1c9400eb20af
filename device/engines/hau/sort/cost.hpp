// What sorts cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/hau/sort/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const HauSortCmd& cmd) { return at.touched_bytes(cmd); }

}  // namespace softtpu
