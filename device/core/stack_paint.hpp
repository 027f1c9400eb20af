// Fills the stack that a kernel is about to use, so that a check can tell a variable that was never set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softtpu {

inline constexpr std::uint32_t kPaintedWord = 0x9AC3'B5E7;  // no float, count or address that kernels use
inline constexpr std::size_t kPaintedBytes = std::size_t{16} << 10;

// From the caller's frame on.
void paint_stack();

}  // namespace softtpu
