// What compression cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/dma/compress/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const DmaCompressCmd& cmd) {
  return {.cycles = at.model().stream(cmd.expand ? DmaPath::kLoad : DmaPath::kStore, at.bytes_of(cmd.plain))};
}

}  // namespace softtpu
