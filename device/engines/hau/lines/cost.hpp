// What gathers of lines cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/hau/lines/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const HauLineGatherCmd& cmd) { return at.touched_bytes(cmd); }

}  // namespace softtpu
