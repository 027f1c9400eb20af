// Sizes of the compressed forms of tensors (formats: device/engines/dma/README.md).
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

// ---- the chip's own code, in groups of 16 elements (device/engines/dma/README.md) ----
inline constexpr int kGroupElements = 16;
// Bytes of a stream's header and of a step of its parts.
inline constexpr int kGroupAlignment = 16;

// Whether the chip codes elements of this size so.
constexpr bool in_groups(int size) { return size == 1 || size == 2; }
constexpr std::int64_t groups_of(std::int64_t count) { return (count + kGroupElements - 1) / kGroupElements; }
// Bytes of the map of groups, which comes before the codes; `each`: bytes of a group.
constexpr std::int64_t group_map_bytes(std::int64_t count, int each = 1) {
  return (groups_of(count) * each + kGroupAlignment - 1) / kGroupAlignment * kGroupAlignment;
}
// Bytes that map and codes of `count` elements of `size` bytes take at most.
constexpr std::int64_t max_group_bytes(std::int64_t count, int size) {
  return group_map_bytes(count) + groups_of(count) * kGroupElements * size;
}

}  // namespace softtpu
