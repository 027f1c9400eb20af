// Shapes and strides of 4-D tensors: the vocabulary of the layout formulas and of commands.
#pragma once

#include <cstdint>

namespace softtpu {

// Largest extent of a dimension: a command's shape fields have 16 bits.
inline constexpr int kMaxExtent = 65535;
// Largest distance between neighbours of a row that the copy engine steps.
inline constexpr int kMaxDmaWStrideBytes = 128;

struct Dim4 {
  int n = 1, c = 1, h = 1, w = 1;
  std::int64_t elements() const { return std::int64_t{n} * c * h * w; }
  bool operator==(const Dim4&) const = default;
};

// Element strides. In local memory `c` is the step from channel c to channel c + npu_num on the same NPU;
// in system memory it is the step to the next channel.
struct Stride4 {
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  bool operator==(const Stride4&) const = default;
};

}  // namespace softtpu
