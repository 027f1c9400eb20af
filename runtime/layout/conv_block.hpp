// Convolution weights between the order of a network, (OC, IC, KH, KW), and the block that one copy loads into the
// local memories: for each NPU its bias, padded to whole rows of execution units, then its weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/layout/formulas.hpp"

namespace softtpu {

// Output channel 0 is in the first NPU of the block. The sizes have been checked by the caller.
struct ConvBlock {
  int npu_num = 0;
  int eu_bytes = 0;
  int oc = 0, ic = 0, kh = 0, kw = 0;
  int ic_pack = 1;  // input channels that lie together: 1, 2, 32, 64
  int element_bytes = 0;
  int bias_bytes = 0;  // of one output channel; 0: no bias in the block

  int lanes() const { return oc < npu_num ? oc : npu_num; }
  std::int64_t rows() const { return ceil_div(oc, npu_num); }  // output channels in the fullest NPU
  std::int64_t weight_offset() const { return align_up(rows() * bias_bytes, eu_bytes); }
  // A multiple of 4, so that a copy of 32-bit elements can load it.
  std::int64_t lane_bytes() const;
  std::int64_t bytes() const { return lanes() * lane_bytes(); }
  std::int64_t weight_elements() const { return std::int64_t{oc} * ic * kh * kw; }
};

// block gets every byte, gaps as zero. bias may be null when there is none.
void merge(const ConvBlock& shape, const std::byte* weights, const std::byte* bias, std::byte* block);
void split(const ConvBlock& shape, const std::byte* block, std::byte* weights, std::byte* bias);

}  // namespace softtpu
