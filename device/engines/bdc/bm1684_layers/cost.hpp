// What BM1684's layers cost.
#pragma once

#include "device/cost/feature_terms.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"

namespace softtpu {

inline TimeModel::Window to_cost_window(const OkkWindow& window) {
  return {window.kernel.h, window.kernel.w, window.padding, window.stride, window.dilation};
}

inline Features features_of(const FeatureTerms& at, const OkkConvCmd& cmd) {
  return at.model().convolution(cmd.input.shape, cmd.output.shape.c, to_cost_window(cmd.window), at.lane(cmd.output));
}
inline Features features_of(const FeatureTerms& at, const OkkWindowCmd& cmd) {
  return at.model().depthwise(cmd.input.shape, to_cost_window(cmd.window), at.lane(cmd.output));
}
inline Features features_of(const FeatureTerms& at, const OkkMatmulCmd& cmd) {
  return at.model().matmul(cmd.output.shape.n, cmd.inner, cmd.cols, cmd.left.shape.w, cmd.output.shape.w,
                           at.lane(cmd.output));
}

}  // namespace softtpu
