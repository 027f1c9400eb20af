// Transposition: channels that become columns, and matrices turned around.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "device/memory/tensor_view.hpp"

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

// to(i)[j] = from(j)[i] for i in [0, rows), j in [0, cols): functions that give the places of contiguous rows.
template <class T, class To, class From>
void turn(int rows, int cols, const To& to, const From& from) {
  const TurnTiles loop = turn_tiles(sizeof(T));
  Tiles tile;
  for (int row = 0; row < rows; row += Tiles::kSide) {
    for (int col = 0; col < cols; col += Tiles::kSide) {
      tile.rows = std::min(Tiles::kSide, rows - row);
      tile.cols = std::min(Tiles::kSide, cols - col);
      for (int i = 0; i < tile.rows; ++i)
        tile.dst[static_cast<std::size_t>(i)] = reinterpret_cast<std::uint8_t*>(to(row + i) + col);
      for (int j = 0; j < tile.cols; ++j)
        tile.src[static_cast<std::size_t>(j)] = reinterpret_cast<const std::uint8_t*>(from(col + j) + row);
      loop(tile);
    }
  }
}

// to(n, c, h, w) = from(n, w, h, c) for n, c, h, w of the shape and elements of so many bytes, on several threads when
// it is worth it. Both w strides are 1; the tensors share no bytes, and `to` none with itself.
void exchange_channels_and_columns(const Dim4& shape, int bytes, const TensorView& to, const TensorView& from);

}  // namespace softtpu
