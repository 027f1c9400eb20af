// What selections by GDMA cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/dma/select/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const DmaRowsCmd& cmd) {
  return {.cycles = at.model().stream(at.path(cmd.dst, cmd.param), at.bytes_of(cmd.index) + at.bytes_of(cmd.dst))};
}
inline Work work_of(const CycleTerms& at, const DmaMaskSelectCmd& cmd) {
  return {.cycles = at.model().stream(at.path(cmd.dst, cmd.src), at.bytes_of(cmd.src) + at.bytes_of(cmd.mask))};
}
inline Work work_of(const CycleTerms& at, const DmaNonzeroCmd& cmd) {
  return {.cycles = at.model().stream(at.path(cmd.dst, cmd.src), at.bytes_of(cmd.src) + at.bytes_of(cmd.dst))};
}

}  // namespace softtpu
