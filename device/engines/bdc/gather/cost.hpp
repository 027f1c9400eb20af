// What gathers and selections by a mask cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/gather/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const GatherCmd& cmd) {
  using Gather = CycleModel::Gather;
  const Dim4& index = cmd.index.shape;
  const Dim4& dst = cmd.dst.shape;
  switch (cmd.mode) {
    case GatherMode::kW: return {StartUp::kGather, at.indices(dst.n, dst.c, index.c)};
    case GatherMode::kHw: return {StartUp::kGather, at.model().gather(dst.n, dst.c, index.c, Gather::kPair)};
    case GatherMode::kBatchW:
      return {StartUp::kGather,
              at.model().gather(dst.n, dst.c, index.w, cmd.four_banks ? Gather::kFourBanks : Gather::kIndex)};
    case GatherMode::kBatchH: return {StartUp::kGatherLine, at.model().gather_lines(dst, cmd.dst.dtype)};
  }
  return {};
}
inline Work work_of(const CycleTerms& at, const MaskSelectCmd& cmd) {
  return {StartUp::kGather, at.indices(cmd.mask.shape.n, cmd.mask.shape.c, cmd.mask.shape.w)};
}

}  // namespace softtpu
