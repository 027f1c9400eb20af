// Every layout formula of softtpu, once: where the elements of a tensor lie in local and in system memory. Pure
// functions of a few sizes, so that the device, the host library and the tools share them. Strides are in elements.
#pragma once

#include <cstdint>

#include "runtime/base/division.hpp"
#include "runtime/layout/shape.hpp"

namespace softtpu {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  const std::int64_t sum = a + b - 1;  // negative for a shape that is refused later
  return sum >= 0 ? quotient(sum, b) : sum / b;
}
constexpr std::int64_t align_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// What the formulas need to know of a chip.
struct Lanes {
  int npu_num = 0;
  int eu_bytes = 0;               // alignment of the aligned layouts
  std::uint32_t local_bytes = 0;  // per NPU
};

// A place in the local memories: a unified local address taken apart.
struct LocalSpot {
  int npu = 0;
  std::int64_t offset = 0;  // bytes from the start of that NPU's memory
  bool operator==(const LocalSpot&) const = default;
};
constexpr LocalSpot split_local_address(const Lanes& lanes, std::uint64_t addr) {
  return {static_cast<int>(addr / lanes.local_bytes), static_cast<std::int64_t>(addr % lanes.local_bytes)};
}

// Channels of one batch that an NPU holds at most.
constexpr std::int64_t channels_per_npu(int npu_num, int start_npu, std::int64_t channels) {
  return ceil_div(start_npu + channels, npu_num);
}
// The NPU that holds a channel, and which of that NPU's channels it is.
constexpr int npu_of_channel(int npu_num, int start_npu, std::int64_t channel) {
  return static_cast<int>(remainder(start_npu + channel, npu_num));
}
constexpr std::int64_t row_of_channel(int npu_num, int start_npu, std::int64_t channel) {
  return quotient(start_npu + channel, npu_num);
}

namespace layout_detail {

// A product that stops at a distance far beyond any memory: shapes are checked after their strides are known.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  constexpr std::int64_t kFar = std::int64_t{1} << 56;
  return __builtin_mul_overflow(a, b, &product) || product > kFar ? kFar : product;
}

inline Stride4 local_stride(int npu_num, int start_npu, const Dim4& shape, std::int64_t c_stride,
                            std::int64_t h_stride) {
  return {times(channels_per_npu(npu_num, start_npu, shape.c), c_stride), c_stride, h_stride, 1};
}

}  // namespace layout_detail

// Local memory, C stride rounded up to whole rows of execution units. eu_num: elements in such a row.
inline Stride4 aligned_stride(int npu_num, int start_npu, const Dim4& shape, int eu_num) {
  return layout_detail::local_stride(npu_num, start_npu, shape, align_up(std::int64_t{shape.h} * shape.w, eu_num),
                                     shape.w);
}
// Local memory, no gaps inside an NPU.
Stride4 compact_stride(int npu_num, int start_npu, const Dim4& shape);
// Local memory, every row of W elements rounded up to whole rows of execution units.
Stride4 line_aligned_stride(int npu_num, int start_npu, const Dim4& shape, int eu_num);
// System memory, plain NCHW.
Stride4 continuous_stride(const Dim4& shape);

// A matrix as a tensor: columns are cut into channels of cols_per_channel; the last channel may be partly used.
// A vector is the matrix of one row.
Dim4 matrix_shape(int rows, int cols, int cols_per_channel);

// Storage modes keep `pack` neighbours of the N dimension together as one unit: 4N and 2N for batches, 2IC, 32IC and
// 64IC for the input channels of weights (N = input channels, C = output channels). Shape and strides then count units.
Dim4 packed_shape(const Dim4& shape, int pack);
// Strides in units of weights (ic, oc, kh, kw): a group of `pack` input channels holds a whole kernel window.
Stride4 weight_stride(const Dim4& shape, int pack);

}  // namespace softtpu
