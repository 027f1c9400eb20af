#include "device/bdc/product.hpp"

#include <algorithm>
#include <cmath>

#include "device/bdc/kernel_choice.hpp"
#include "device/bdc/product_kernels.hpp"
#include "device/bdc/product_results.hpp"
#include "device/bdc/scratch.hpp"
#include "device/memory/parallel.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

// Rows of the result in one tile. The right matrix is loaded once for each; fewer where there are few column tiles, so
// that every thread has work.
constexpr int kTileRows = 256;
constexpr int kFewTileRows = 64;
constexpr int kFewColumnTiles = 4;

ProductKernels kernels() { return plain_kernels() ? kPlainProductKernels : fast_product_kernels(); }

// Calls body(tile) for all tiles of the result, in parallel.
template <class Body>
void for_each_tile(const ProductSize& size, Body body) {
  const int across = (size.cols + kTileCols - 1) / kTileCols;
  const int height = across < kFewColumnTiles ? kFewTileRows : kTileRows;
  const int down = (size.rows + height - 1) / height;
  const std::int64_t steps = std::int64_t{size.rows} * size.inner * size.cols / 8;
  parallel_for(across * down, steps, [&](int index) {
    Tile tile{index / across * height, 0, index % across * kTileCols, 0};
    tile.rows = std::min(height, size.rows - tile.row);
    tile.cols = std::min(kTileCols, size.cols - tile.col);
    body(tile);
  });
}

// The left matrix, loaded once.
template <class In>
const In* load_left(const ProductSize& size, const ProductSource<In>& source) {
  thread_local Scratch<In> scratch;
  In* left = scratch.room(std::int64_t{size.rows} * size.inner);
  parallel_for(size.rows, std::int64_t{size.rows} * size.inner,
               [&](int row) { source.left(row, left + std::int64_t{row} * size.inner); });
  return left;
}

template <class T, int kSlot>
Scratch<T>& scratch() {
  thread_local Scratch<T> memory;
  return memory;
}

// A tile of sums, all zero.
template <class T, int kSlot>
T* sums_of(const Tile& tile) {
  return scratch<T, kSlot>().zeroed(std::int64_t{tile.rows} * kTileCols);
}

// Room for what a tile loads of the right matrix at once. Loops take whole vectors: behind the columns that count there
// must not be what looks like special values.
template <class T>
T* right_of(const ProductSize& size, const Tile& tile) {
  constexpr int kSlot = 2;
  const std::int64_t elements = std::int64_t{std::min(kMaxDepth, size.inner)} * kTileCols;
  return tile.cols == kTileCols ? scratch<T, kSlot>().room(elements) : scratch<T, kSlot>().zeroed(elements);
}

// The payload of a NaN depends on the order in which a processor takes its operands: one NaN stands for all.
float settled(float value) { return std::isnan(value) ? std::bit_cast<float>(kNanInvalid) : value; }

// Places the addends: alternately on both lanes, or all on the only sum.
void add_addends(const FloatProduct& product, const Tile& tile, float* first, float* second) {
  float values[kTileCols];
  for (std::size_t i = 0; i < product.addends.size(); ++i) {
    float* sums = i % 2 == 0 ? first : second;
    for (int row = 0; row < tile.rows; ++row) {
      product.addends[i](tile.row + row, tile.col, tile.cols, values);
      for (int col = 0; col < tile.cols; ++col) sums[row * kTileCols + col] += values[col];
    }
  }
}

void two_lane_tile(const FloatProduct& product, const float* left, const Tile& tile, float* sums) {
  float* other = sums_of<float, 1>(tile);
  float* right = right_of<float>(product.size, tile);
  add_addends(product, tile, sums, other);
  // The products go on with the lane after the last addend.
  const bool odd = product.addends.size() % 2 != 0;
  const ProductSize& size = product.size;
  for (int k = 0; k < size.inner; k += kMaxDepth) {
    const int depth = std::min(kMaxDepth, size.inner - k);
    product.source.right(k, depth, tile.col, tile.cols, right);
    kernels().two_lanes({tile.rows, depth, tile.cols}, left + std::int64_t{tile.row} * size.inner + k, size.inner,
                        right, odd ? other : sums, odd ? sums : other);
  }
  for (std::int64_t i = 0; i < std::int64_t{tile.rows} * kTileCols; ++i) sums[i] = settled(sums[i] + other[i]);
}

void group_tile(const FloatProduct& product, const float* left, const Tile& tile, float* sums) {
  float* right = right_of<float>(product.size, tile);
  add_addends(product, tile, sums, sums);
  const ProductSize& size = product.size;
  int depth = 0;
  for (int k = 0; k < size.inner; k += depth) {
    const bool tail = k >= product.tail_begin;
    const int group = tail ? product.tail_group : kGroupTerms;
    depth = std::min(kMaxDepth / group * group, (tail ? size.inner : product.tail_begin) - k);
    product.source.right(k, depth, tile.col, tile.cols, right);
    kernels().groups({tile.rows, depth, tile.cols}, group, left + std::int64_t{tile.row} * size.inner + k, size.inner,
                     right, sums);
  }
  for (std::int64_t i = 0; i < std::int64_t{tile.rows} * kTileCols; ++i) sums[i] = settled(sums[i]);
}

void word_tile(const WordProduct& product, const std::uint64_t* left, const Tile& tile, std::uint64_t* sums) {
  std::uint64_t* right = right_of<std::uint64_t>(product.size, tile);
  const ProductSize& size = product.size;
  for (int k = 0; k < size.inner; k += kMaxDepth) {
    const int depth = std::min(kMaxDepth, size.inner - k);
    product.source.right(k, depth, tile.col, tile.cols, right);
    for (int row = 0; row < tile.rows; ++row) {
      const std::uint64_t* factors = left + std::int64_t{tile.row + row} * size.inner + k;
      for (int i = 0; i < depth; ++i) {
        for (int col = 0; col < tile.cols; ++col) {
          sums[row * kTileCols + col] += factors[i] * right[i * kTileCols + col];
        }
      }
    }
  }
}

}  // namespace

void multiply(const FloatProduct& product) {
  const float* left = load_left(product.size, product.source);
  Results<float> results(product.size, product.store_last);
  for_each_tile(product.size, [&](const Tile& tile) {
    float* sums = sums_of<float, 0>(tile);
    (product.rule == FloatSum::kTwoLanes ? two_lane_tile : group_tile)(product, left, tile, sums);
    results.tile(tile, sums, product.store);
  });
  results.finish(product.store);
}

void multiply(const WordProduct& product) {
  const std::uint64_t* left = load_left(product.size, product.source);
  Results<std::uint64_t> results(product.size, product.store_last);
  for_each_tile(product.size, [&](const Tile& tile) {
    std::uint64_t* sums = sums_of<std::uint64_t, 0>(tile);
    word_tile(product, left, tile, sums);
    results.tile(tile, sums, product.store);
  });
  results.finish(product.store);
}

}  // namespace softtpu
