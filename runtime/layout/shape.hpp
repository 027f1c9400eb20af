// Shapes and strides of 4-D tensors: the vocabulary of the layout formulas and of commands.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace softtpu {

// Largest extent of a dimension: a command's shape fields have 16 bits.
inline constexpr int kMaxExtent = 65535;

struct Dim4 {
  int n = 1, c = 1, h = 1, w = 1;
  // Counted up to kManyElements, more than any memory holds: byte sizes of every data type fit into 64 bits.
  static constexpr std::int64_t kManyElements = std::int64_t{1} << 56;
  constexpr std::int64_t elements() const {
    std::int64_t count = 1;
    for (const int extent : {n, c, h, w}) {
      if (__builtin_mul_overflow(count, extent, &count) || count > kManyElements) return kManyElements;
    }
    return count;
  }
  bool operator==(const Dim4&) const = default;
};

// Element strides. In local memory `c` is the step from channel c to channel c + npu_num on the same NPU;
// in system memory it is the step to the next channel.
struct Stride4 {
  std::int64_t n = 0, c = 0, h = 0, w = 0;
  bool operator==(const Stride4&) const = default;
};

}  // namespace softtpu
