// What BM1684's layers of bytes cost: as those of fp32 with the same sizes, but that a convolution takes several input
// channels, and images, in a cycle.
#pragma once

#include "device/cost/feature_terms.hpp"
#include "device/engines/bdc/bm1684_bytes/command.hpp"
#include "device/engines/bdc/bm1684_layers/cost.hpp"

namespace softtpu {

inline Features features_of(const FeatureTerms& at, const OkkByteConvCmd& cmd) {
  Dim4 input = cmd.input.shape;
  input.c = (cmd.input_channels + kByteChannels - 1) / kByteChannels;
  return at.model().convolution(input, cmd.output.shape.c, to_cost_window(cmd.window), at.lane(cmd.output));
}
inline Features features_of(const FeatureTerms& at, const OkkByteWindowCmd& cmd) {
  return at.model().depthwise(cmd.input.shape, to_cost_window(cmd.window), at.lane(cmd.output));
}
inline Features features_of(const FeatureTerms& at, const OkkByteMatmulCmd& cmd) {
  return at.model().matmul(cmd.output.shape.n, cmd.inner, cmd.cols, cmd.left.shape.w, cmd.output.shape.w,
                           at.lane(cmd.output));
}

}  // namespace softtpu
