// Compaction: the values that a mask chooses, side by side. First the mask becomes bits, then the bits choose.
#pragma once

#include <cstdint>

namespace softtpu {

// Loops for values and masks of unsigned integers of given sizes.
struct CompactLoops {
  // Writes a bit for each of mask[0, count), 1 where it is not 0, in an order that only choose() knows, and returns how
  // many are 1.
  unsigned (*mark)(const void* mask, int count, std::uint8_t* bits);
  // Writes values[i] + offset, for each i in [0, count) whose bit is 1, to `out`. May write anything to the
  // kCompactSlack elements behind them.
  void (*choose)(const void* values, std::uint32_t offset, const std::uint8_t* bits, int count, void* out);
};
inline constexpr int kCompactSlack = 64;

// Bytes that the bits of so many elements take; so many behind them may be written, or read, too.
constexpr int mark_bytes(int count) { return (count + 3) / 4; }
inline constexpr int kMarkSlack = 8;

CompactLoops plain_compact_loops(int value_bytes, int mask_bytes);
// Null pointers: there are none.
CompactLoops fast_compact_loops(int value_bytes, int mask_bytes);

}  // namespace softtpu
