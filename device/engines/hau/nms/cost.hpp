// What NMS cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/hau/nms/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const HauHardNmsCmd& cmd) { return at.touched_bytes(cmd); }
inline Work work_of(const CycleTerms& at, const HauSoftNmsCmd& cmd) { return at.touched_bytes(cmd); }

}  // namespace softtpu
