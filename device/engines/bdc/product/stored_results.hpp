// Results of matrix products to a stored matrix.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/engines/bdc/product/load.hpp"
#include "device/engines/bdc/product/product.hpp"
#include "device/engines/bdc/product/stored_matrix.hpp"
#include "device/memory/transpose.hpp"

namespace softtpu {

inline constexpr int kRowsAtOnce = 32;  // rows that are read or written together, local memory by local memory

// Stores results as they are.
template <class T>
Store<T> copy_to(const StoredMatrix& dst) {
  return [dst](const Tile& tile, const T* values, std::int64_t step) {
    if (dst.columns_are_runs()) {
      return turn<T>(
          tile.cols, tile.rows, [&](int col) { return dst.at<T>(tile.row, tile.col + col); },
          [&](int row) { return values + row * step; });
    }
    for (int done = 0; done < tile.rows; done += kRowsAtOnce, values += step * kRowsAtOnce) {
      const int row = tile.row + done, rows = std::min(kRowsAtOnce, tile.rows - done);
      if (!dst.column_major()) {
        dst.blocks<T>(row, rows, tile.col, tile.cols, [&](const auto& block) {
          copy_runs(values + block.i * step + block.j, step, block.rows, block.run, block.first, block.step);
        });
        continue;
      }
      for (int i = 0; i < rows; ++i) {
        dst.row_runs<T>(row + i, tile.col, tile.cols,
                        [&](int j, T* first, int run) { copy_run(values + i * step + j, run, first); });
      }
    }
  };
}

}  // namespace softtpu
