// What products make: tiles of sums, handed on as they are finished or when all operands have been read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device/engines/bdc/product/product.hpp"

namespace softtpu {

// Finished values that wait, where they have to, until every tile has read its operands.
template <class T>
class Results {
 public:
  Results(const ProductSize& size, bool wait, const Store<T>& store) : size_(size), store_(store) {
    if (wait) values_.resize(static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.cols));
  }
  // Rows of `values` are kTileCols apart.
  void tile(const Tile& tile, const T* values) {
    if (values_.empty()) return store_(tile, values, kTileCols);
    for (int row = 0; row < tile.rows; ++row) {
      std::copy_n(values + row * kTileCols, tile.cols,
                  values_.data() + std::int64_t{tile.row + row} * size_.cols + tile.col);
    }
  }
  void finish() const {
    if (!values_.empty()) store_({0, size_.rows, 0, size_.cols}, values_.data(), size_.cols);
  }

 private:
  ProductSize size_;
  const Store<T>& store_;
  std::vector<T> values_;
};

}  // namespace softtpu
