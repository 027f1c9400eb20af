// What convolutions and poolings cost.
#pragma once

#include "device/cost/cycle_terms.hpp"
#include "device/engines/bdc/window/command.hpp"

namespace softtpu {

inline Work work_of(const CycleTerms& at, const Conv2dCmd& cmd) {
  return {StartUp::kConv,
          at.model().convolution(cmd.dst.shape, cmd.src.shape.c, cmd.window.kernel, at.lane(cmd.dst), cmd.src.dtype)};
}
// As the product of grad and the windows.
inline Work work_of(const CycleTerms& at, const WeightGradientCmd& cmd) {
  const Dim4& grad = cmd.grad.shape;
  return {StartUp::kProductTiles,
          at.model().matmul_tiles(grad.c, grad.h * grad.w, cmd.dst.shape.h * cmd.dst.shape.w, cmd.src.dtype)};
}
inline Work work_of(const CycleTerms& at, const PoolCmd& cmd) {
  return {StartUp::kWindow,
          at.model().window(cmd.dst.shape, cmd.window.kernel, cmd.window.stride, at.lane(cmd.dst), cmd.src.dtype)};
}
inline Work work_of(const CycleTerms& at, const RoiPoolCmd& cmd) {
  return {StartUp::kWindow, at.model().window(cmd.dst.shape, cmd.kernel, {1, 1}, at.lane(cmd.dst), cmd.src.dtype)};
}

}  // namespace softtpu
