// Layout formulas: where the elements of a tensor lie in local and system memory (seeds 000, 001, 003; golden
// bm1684x/layout). Every stride and size rule of softtpu stands here once. Strides are in elements.
#pragma once

#include <cstdint>

#include "device/chip/chip.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t align_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

// Channels of one batch that an NPU holds at most: ceil((start + channels) / npu_num).
inline std::int64_t channels_per_npu(const Chip& chip, int start_npu, std::int64_t channels) {
  return ceil_div(start_npu + channels, chip.npu_num);
}

// Local memory, C stride rounded up to whole rows of execution units (64 bytes on BM1684X, 128 on BM1684).
Stride4 aligned_stride(const Chip& chip, int start_npu, const Dim4& shape, Dtype type);
// Local memory, no gaps inside an NPU.
Stride4 compact_stride(const Chip& chip, int start_npu, const Dim4& shape);
// Local memory, every row of W elements rounded up to whole rows of execution units.
Stride4 line_aligned_stride(const Chip& chip, int start_npu, const Dim4& shape, Dtype type);
// System memory, plain NCHW.
Stride4 continuous_stride(const Dim4& shape);

}  // namespace softtpu
