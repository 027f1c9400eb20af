// What copies, fills and matrices cost.
#pragma once

#include <algorithm>

#include "device/cost/contiguous.hpp"
#include "device/cost/cycle_terms.hpp"
#include "device/cost/feature_terms.hpp"
#include "device/engines/dma/copy/command.hpp"
#include "runtime/layout/formulas.hpp"

namespace softtpu {

// What a copy moves, as a tensor of its destination: what several lanes get from global memory is read once and written
// to all of them at once, as INT8 networks on boards show. The vendor's estimates do not say.
inline Tensor moved_by(const CycleTerms& at, const DmaCopyCmd& cmd) {
  Tensor moved = cmd.dst;
  if (at.preset() == TimingPreset::kFull && cmd.order == CopyOrder::kOneChannel &&
      at.path(cmd.dst, cmd.src) == DmaPath::kLoad)
    moved.shape.c = 1;
  return moved;
}
inline Work work_of(const CycleTerms& at, const DmaCopyCmd& cmd) {
  const DmaPath path = at.path(cmd.dst, cmd.src);
  if (cmd.order == CopyOrder::kBlock || cmd.order == CopyOrder::kNwhc)
    return {.cycles = at.model().stream(path, at.bytes_of(cmd.dst))};
  const std::int64_t run = std::min(contiguous_elements(cmd.dst.shape, cmd.dst.stride, cmd.dst.stride),
                                    contiguous_elements(cmd.src.shape, cmd.src.stride, cmd.src.stride));
  return {.cycles = at.model().tensor_copy(path, at.pieces(moved_by(at, cmd), run))};
}
inline Work work_of(const CycleTerms& at, const DmaFillCmd& cmd) {
  const auto run =
      cmd.block ? cmd.dst.shape.elements() : contiguous_elements(cmd.dst.shape, cmd.dst.stride, cmd.dst.stride);
  return {.cycles = at.model().fill(at.pieces(cmd.dst, run))};
}
inline Work work_of(const CycleTerms& at, const DmaMatrixCmd& cmd) {
  const DmaPath path = at.path(cmd.dst, cmd.src);
  const Tensor& local = path == DmaPath::kLoad ? cmd.dst : cmd.src;
  const Tensor& system = path == DmaPath::kLoad ? cmd.src : cmd.dst;
  const int rows = system.shape.n;
  const int cols = system.shape.w;
  const int per_channel = std::min(local.shape.w, cols);
  if (at.preset() == TimingPreset::kVendor)
    return {.cycles = at.model().vendor_matrix_copy(path, rows, cols, per_channel, system.dtype, cmd.transposed)};
  const DmaPieces run{rows * ceil_div(cols, per_channel), std::int64_t{per_channel} * size_of(system.dtype)};
  return {.cycles = at.model().matrix_copy(path, run, cmd.transposed)};
}

inline Features features_of(const FeatureTerms& at, const DmaCopyCmd& cmd) {
  const Tensor* local = at.is_local(cmd.dst) ? &cmd.dst : at.is_local(cmd.src) ? &cmd.src : nullptr;
  if (local == nullptr && cmd.order == CopyOrder::kBlock) return at.model().system_move(at.bytes_of(cmd.dst));
  if (local == nullptr)
    return at.model().system_copy(cmd.src.shape, {cmd.src.addr, cmd.src.stride}, cmd.dst.shape,
                                  {cmd.dst.addr, cmd.dst.stride}, size_of(cmd.src.dtype));
  if (at.is_local(cmd.dst) && at.is_local(cmd.src)) return at.model().local_move(at.bytes_of(cmd.dst));
  const bool load = local == &cmd.dst;
  const Tensor& system = load ? cmd.src : cmd.dst;
  return at.model().transfer(load, cmd.dst.shape, {system.addr, system.stride}, local->stride, size_of(system.dtype));
}
inline Features features_of(const FeatureTerms& at, const DmaFillCmd& cmd) {
  const std::int64_t bytes = at.bytes_of(cmd.dst);
  return at.is_local(cmd.dst) ? at.model().local_move(bytes) : at.model().system_fill(bytes);
}
inline Features features_of(const FeatureTerms& at, const DmaMatrixCmd& cmd) {
  const bool load = at.is_local(cmd.dst);
  const Tensor& local = load ? cmd.dst : cmd.src;
  const Tensor& system = load ? cmd.src : cmd.dst;
  return at.model().matrix_transfer(load, system.addr, system.shape.n, system.shape.w, local.shape.w,
                                    static_cast<int>(system.stride.n), size_of(system.dtype));
}

}  // namespace softtpu
