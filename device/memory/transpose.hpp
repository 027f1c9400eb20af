// Transposition: channels that become columns, and matrices turned around.
#pragma once

#include <array>
#include <cstdint>

#include "device/memory/memories.hpp"

namespace softtpu {

// dst[i][j] = src[j][i] for i in [0, rows), j in [0, cols), in `count` tiles. Rows are contiguous and lie anywhere;
// those of tile t lie t * step bytes behind the first tile's. No destination shares bytes with a source.
struct Tiles {
  static constexpr int kSide = 64;  // the most rows, and the most columns

  std::array<std::uint8_t*, kSide> dst;
  std::array<const std::uint8_t*, kSide> src;
  int rows = 0;
  int cols = 0;
  std::int64_t count = 1;
  std::int64_t dst_step = 0;
  std::int64_t src_step = 0;
};

// For elements of 1, 2 or 4 bytes.
using TurnTiles = void (*)(const Tiles& tiles);
TurnTiles plain_turn_tiles(int element_bytes);
TurnTiles fast_turn_tiles(int element_bytes);
// That of the process's choice (kernel_choice.hpp).
TurnTiles turn_tiles(int element_bytes);

// dst(n, c, h, w) = src(n, w, h, c), on several threads when it is worth it. Both w strides are 1; the tensors share no
// bytes, and dst none with itself.
void exchange_channels_and_columns(const Memories& mem, const Tensor& dst, const Tensor& src);

}  // namespace softtpu
