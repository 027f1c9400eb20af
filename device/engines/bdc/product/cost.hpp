// What matrix products cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/product/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const MatMulCmd& cmd) {
  const Dtype type = type_of(cmd.left);
  if (!spreads_columns(cmd.kind))
    return {StartUp::kProductTiles, at.model().matmul_tiles(cmd.rows, cmd.inner, cmd.cols, type)};
  return {StartUp::kProductRows,
          at.model().matmul_rows(cmd.rows, cmd.inner, cmd.dst.shape.c, cmd.dst.shape.w, at.lane(cmd.dst), type)};
}

}  // namespace softtpu
