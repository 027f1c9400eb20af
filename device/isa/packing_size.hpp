// Sizes of the compressed form of tensors (format: device/engines/dma/README.md).
#pragma once

#include <cstdint>

namespace softtpu {

// Elements that share one set of code widths.
inline constexpr int kPackingBlock = 64;
// Bytes before the code of a stream.
inline constexpr int kStreamHeaderBytes = 16;

// Bytes that the code of `count` elements of `size` bytes takes at most.
constexpr std::int64_t max_packed_bytes(std::int64_t count, int size) {
  const std::int64_t blocks = (count + kPackingBlock - 1) / kPackingBlock;
  return blocks * size + count * size;
}

}  // namespace softtpu
