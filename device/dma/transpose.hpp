// Transposition of a two-dimensional array whose rows lie anywhere, in tiles that stay in the first-level cache.
#pragma once

#include <algorithm>
#include <array>

namespace softtpu {

// dst_row(i)[j] = src_row(j)[i] for i in [0, rows), j in [0, cols). Rows are contiguous; the arrays do not overlap.
template <class T, class DstRow, class SrcRow>
void transpose(int rows, int cols, DstRow dst_row, SrcRow src_row) {
  constexpr int kTile = 32;
  std::array<T*, kTile> dst;
  std::array<const T*, kTile> src;
  for (int j0 = 0; j0 < cols; j0 += kTile) {
    const int width = std::min(kTile, cols - j0);
    for (int j = 0; j < width; ++j) src[static_cast<unsigned>(j)] = src_row(j0 + j);
    for (int i0 = 0; i0 < rows; i0 += kTile) {
      const int height = std::min(kTile, rows - i0);
      for (int i = 0; i < height; ++i) dst[static_cast<unsigned>(i)] = dst_row(i0 + i) + j0;
      for (int i = 0; i < height; ++i) {
        T* row = dst[static_cast<unsigned>(i)];
        for (int j = 0; j < width; ++j) row[j] = src[static_cast<unsigned>(j)][i0 + i];
      }
    }
  }
}

}  // namespace softtpu
