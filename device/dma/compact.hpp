// Compaction: the values that a mask chooses, side by side.
#pragma once

#include <cstdint>

namespace softtpu {

// Writes values[i] + offset, for each mask[i] that is not 0, to `out`, and returns how many. May write anything to the
// rest of out[0, count + kCompactSlack).
using CompactRow = unsigned (*)(const void* values, std::uint32_t offset, const void* mask, int count, void* out);
inline constexpr int kCompactSlack = 16;

// For values and masks of unsigned integers of these sizes; nullptr: there is none.
CompactRow plain_compact_row(int value_bytes, int mask_bytes);
CompactRow fast_compact_row(int value_bytes, int mask_bytes);

}  // namespace softtpu
