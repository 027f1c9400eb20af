// What the moves of several engines share.
#pragma once

#include <cstdint>

namespace softtpu {

// NPUs that a command of the destination's memory leaves as they are have a zero bit here.
inline constexpr std::uint64_t kAllNpus = ~std::uint64_t{0};

// Which element of the source each element of the destination receives.
enum class CopyOrder : std::uint8_t {
  kNchw,        // dst(n, c, h, w) = src(n, c, h, w)
  kCnhw,        // dst(n, c, h, w) = src(c, n, h, w)
  kNwhc,        // dst(n, c, h, w) = src(n, w, h, c)
  kReshape,     // both walked in n, c, h, w order; the shapes differ, the number of elements does not
  kOneChannel,  // dst(n, c, h, w) = src(n, 0, h, w)
  kReverseN,    // dst(n, c, h, w) = src(N - 1 - n, c, h, w), and the same for the other dimensions
  kReverseC,
  kReverseH,
  kReverseW,
  kBlock,  // contiguous memory, as memmove does; the only length limit is the memory's
};

}  // namespace softtpu
