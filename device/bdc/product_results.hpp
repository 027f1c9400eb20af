// What products make: tiles of sums, handed on as they are finished or when all operands have been read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/bdc/product.hpp"

namespace softtpu {

// A part of the result.
struct Tile {
  int row = 0, rows = 0, col = 0, cols = 0;
};

// Finished values that wait until every tile has read its operands.
template <class T>
class Results {
 public:
  Results(const ProductSize& size, bool wait) : size_(size) {
    if (wait) values_.resize(static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.cols));
  }
  template <class Store>
  void tile(const Tile& tile, const T* values, Store store) {
    for (int row = 0; row < tile.rows; ++row) {
      const T* from = values + row * kTileCols;
      if (values_.empty()) {
        store(tile.row + row, tile.col, tile.cols, from);
      } else {
        std::copy_n(from, tile.cols, values_.data() + std::int64_t{tile.row + row} * size_.cols + tile.col);
      }
    }
  }
  template <class Store>
  void finish(Store store) {
    if (values_.empty()) return;
    for (int row = 0; row < size_.rows; ++row)
      store(row, 0, size_.cols, values_.data() + std::int64_t{row} * size_.cols);
  }

 private:
  ProductSize size_;
  std::vector<T> values_;
};

}  // namespace softtpu
