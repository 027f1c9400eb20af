// What moves between lanes, sequences and random numbers cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/move/command.hpp"
#include "device/isa/op_names.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const CrossCopyCmd& cmd) {
  if (cmd.src.space == Space::kStatic) return at.from_static(cmd.dst);
  if (cmd.order == CopyOrder::kNwhc) {
    return {StartUp::kTranspose, at.op() == Op::tpu_bdc_wc_trans
                                     ? at.model().transpose_to_c(cmd.src.shape, cmd.src.dtype)
                                     : at.model().transpose_to_w(cmd.src.shape, cmd.src.dtype)};
  }
  return {StartUp::kLaneCopy,
          at.model().lane_copy(cmd.dst.shape, at.lane(cmd.dst), cmd.dst.dtype, at.bank(cmd.dst) == at.bank(cmd.src))};
}
inline Work work_of(const CycleTerms& at, const SequenceCmd& cmd) { return at.by_operands(cmd); }
inline Work work_of(const CycleTerms& at, const RandomCmd& cmd) { return at.by_operands(cmd); }

}  // namespace softtpu
