#include "device/engines/bdc/product/product.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "device/engines/bdc/product/product_kernels.hpp"
#include "device/engines/bdc/product/product_results.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/scratch.hpp"
#include "device/memory/transpose.hpp"
#include "device/numeric/formats.hpp"

namespace softtpu {
namespace {

// Rows of the result in one tile. The right matrix is loaded once for each; fewer where there are few column tiles,
// and as few as leave no thread without a tile.
constexpr int kTileRows = 256;
constexpr int kFewTileRows = 64;
constexpr int kFewColumnTiles = 4;
constexpr int kLeastTileRows = 16;
// Rows of a tile whose sums and operands stay in the first-level cache, where nothing is loaded for a tile and a result
// has few terms: then all columns of these rows are finished before the next rows are begun, and results are written as
// they lie in memory.
constexpr int kShallowRows = 16;
constexpr int kShallowInner = 64;
// Rows of the left matrix that are loaded together: neighbours in one local memory.
constexpr int kLeftRows = 32;
// Products that the inner loops add in the time of one element step of other commands.
constexpr int kProductsPerStep = 4;

ProductKernels kernels() { return plain_kernels() ? kPlainProductKernels : fast_product_kernels(); }

std::int64_t steps_of(const ProductSize& size) {
  return std::int64_t{size.rows} * size.inner * size.cols / kProductsPerStep;
}

int parts_of(int count, int part) { return (count + part - 1) / part; }

// Calls body(tile, number of its columns' tile) for all tiles of the result, in parallel.
template <class Body>
void for_each_tile(const ProductSize& size, const PackedRight<float>* packed, bool shallow, Body body) {
  const std::int64_t steps = steps_of(size);
  const int threads = threads_for(steps);
  const int across = packed != nullptr ? packed->tiles() : parts_of(size.cols, kTileCols);
  int height = shallow ? kShallowRows : across < kFewColumnTiles ? kFewTileRows : kTileRows;
  while (height > kLeastTileRows && across * parts_of(size.rows, height) < threads) height /= 2;
  // Of nearly one height: two threads share 37 rows as 20 and 17, not as 32 and 5.
  constexpr int kRowsTogether = 4;
  height = parts_of(parts_of(size.rows, parts_of(size.rows, height)), kRowsTogether) * kRowsTogether;
  parallel_for(across * parts_of(size.rows, height), steps, [&](int index) {
    const int row = index / across * height, at = index % across, col = at * kTileCols;
    const int cols = packed != nullptr ? packed->cols(at) : std::min(kTileCols, size.cols - col);
    body(Tile{row, std::min(height, size.rows - row), col, cols}, at);
  });
}

// The left matrix, loaded once.
template <class In, int kSlot = 0>
const In* load_left(const ProductSize& size, const ProductSource<In>& source) {
  thread_local Scratch<In> scratch;
  In* left = scratch.room(std::int64_t{size.rows} * size.inner);
  parallel_for(parts_of(size.rows, kLeftRows), steps_of(size), [&](int part) {
    const int row = part * kLeftRows;
    source.left(row, std::min(kLeftRows, size.rows - row), left + std::int64_t{row} * size.inner);
  });
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
// The same with anything in it.
template <class T, int kSlot>
T* room_of(const Tile& tile) {
  return scratch<T, kSlot>().room(std::int64_t{tile.rows} * kTileCols);
}

// Room for what a tile loads of the right matrix at once. Loops take whole vectors: behind the columns that count there
// must not be what looks like special values.
template <class T>
T* right_of(const ProductSize& size, const Tile& tile) {
  constexpr int kSlot = 2;
  const std::int64_t elements = std::int64_t{std::min(kMaxDepth, size.inner)} * kTileCols;
  return tile.cols == kTileCols ? scratch<T, kSlot>().room(elements) : scratch<T, kSlot>().zeroed(elements);
}

// Where the rows of a loaded tile start.
const std::int64_t* tile_offsets() {
  static const auto offsets = [] {
    std::array<std::int64_t, kMaxDepth> list{};
    for (std::size_t k = 0; k < list.size(); ++k) list[k] = static_cast<std::int64_t>(k) * kTileCols;
    return list;
  }();
  return offsets.data();
}

// Part of the right matrix for one tile of columns.
struct RightRows {
  const float* values;
  const std::int64_t* offsets;
};

// Rows [k, k + depth) of the right matrix for a tile, loaded to `room` unless they lie packed.
RightRows right_rows(const FloatProduct& product, const Tile& tile, int at, int k, int depth, float* room) {
  if (product.packed != nullptr) return {product.packed->tile(at), product.packed->offsets.data() + k};
  product.source.right(k, depth, tile.col, tile.cols, room);
  return {room, tile_offsets()};
}

// Places the addends: alternately on both lanes, or all on the only sum.
void add_addends(const FloatProduct& product, const Tile& tile, float* first, float* second) {
  float values[kTileCols] = {};
  for (std::size_t i = 0; i < product.addends.size(); ++i) {
    float* sums = i % 2 == 0 ? first : second;
    for (int row = 0; row < tile.rows; ++row) {
      product.addends[i](tile.row + row, tile.col, tile.cols, values);
      for (int col = 0; col < tile.cols; ++col) sums[row * kTileCols + col] += values[col];
    }
  }
}

// Gives every NaN among the sums of a tile its sign: that of the first NaN among its addends, else the negative one
// that an invalid operation makes.
void sign_nans(const FloatProduct& product, const Tile& tile, float* sums) {
  float values[kTileCols] = {};
  for (int row = 0; row < tile.rows; ++row, sums += kTileCols) {
    unsigned nans = 0;
    for (int col = 0; col < tile.cols; ++col) nans |= is_nan_bits(std::bit_cast<std::uint32_t>(sums[col])) ? 1U : 0U;
    if (nans == 0) continue;
    std::array<bool, kTileCols> found = {};
    for (int col = 0; col < tile.cols; ++col)
      if (std::isnan(sums[col])) sums[col] = std::bit_cast<float>(kNanInvalid);
    for (const FloatProduct::Piece& addend : product.addends) {
      addend(tile.row + row, tile.col, tile.cols, values);
      for (int col = 0; col < tile.cols; ++col) {
        if (!std::isnan(values[col]) || std::exchange(found[static_cast<std::size_t>(col)], true)) continue;
        sums[col] = std::copysign(sums[col], values[col]);
      }
    }
  }
}

// Products that are all there is to add, and few enough to be added at once: sums = or += them.
bool joined_tile(const FloatProduct& product, const float* left, const Tile& tile, int at, bool add, float* sums) {
  const int inner = product.size.inner;
  if (!product.addends.empty() || inner > kMaxDepth) return false;
  float* room = product.packed != nullptr ? nullptr : right_of<float>(product.size, tile);
  const RightRows right = right_rows(product, tile, at, 0, inner, room);
  kernels().joined_lanes({tile.rows, inner, tile.cols}, left + std::int64_t{tile.row} * inner, inner, right.values,
                         right.offsets, add, sums);
  return true;
}

void two_lane_tile(const FloatProduct& product, const float* left, const Tile& tile, int at, float* sums) {
  if (joined_tile(product, left, tile, at, false, sums)) return;
  float* other = sums_of<float, 1>(tile);
  std::fill_n(sums, tile.rows * kTileCols, 0.0F);
  float* room = product.packed != nullptr ? nullptr : right_of<float>(product.size, tile);
  add_addends(product, tile, sums, other);
  // The products go on with the lane after the last addend.
  const bool odd = product.addends.size() % 2 != 0;
  const ProductSize& size = product.size;
  const ProductKernels loops = kernels();
  for (int k = 0; k < size.inner; k += kMaxDepth) {
    const int depth = std::min(kMaxDepth, size.inner - k);
    const RightRows right = right_rows(product, tile, at, k, depth, room);
    loops.two_lanes({tile.rows, depth, tile.cols}, left + std::int64_t{tile.row} * size.inner + k, size.inner,
                    right.values, right.offsets, odd ? other : sums, odd ? sums : other);
  }
  loops.join(tile.rows, other, sums);
}

void group_tile(const FloatProduct& product, const float* left, const Tile& tile, int at, float* sums) {
  float* room = product.packed != nullptr ? nullptr : right_of<float>(product.size, tile);
  std::fill_n(sums, tile.rows * kTileCols, 0.0F);
  add_addends(product, tile, sums, sums);
  const ProductSize& size = product.size;
  const ProductKernels loops = kernels();
  int depth = 0;
  for (int k = 0; k < size.inner; k += depth) {
    const bool tail = k >= product.tail_begin;
    const int group = tail ? product.tail_group : product.group;
    depth = std::min(kMaxDepth / group * group, (tail ? size.inner : product.tail_begin) - k);
    const RightRows right = right_rows(product, tile, at, k, depth, room);
    loops.groups({tile.rows, depth, tile.cols, product.nan_wins}, group, left + std::int64_t{tile.row} * size.inner + k,
                 size.inner, right.values, right.offsets, sums);
  }
  if (product.signs_nan) sign_nans(product, tile, sums);
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

// A product of few columns and many rows would fill vectors with a few elements. Sums of groups are the same for turned
// operands, as those of running sums may not be.
constexpr int kNarrowCols = 2, kTurnedRows = 16;
bool is_narrow(const FloatProduct& product) {
  return product.rule == FloatSum::kGroups && product.packed == nullptr && product.second == nullptr &&
         product.size.cols <= kNarrowCols && product.size.rows >= kTurnedRows && !plain_kernels();
}

// The same with columns for rows, whose results are those of `product` row by row.
FloatProduct turned(const FloatProduct& product, float* results) {
  FloatProduct made = product;
  const int inner = product.size.inner;
  made.size = {product.size.cols, inner, product.size.rows};
  made.source.left = [&product, inner](int row, int count, float* values) {
    float* right = room<float, struct TurnedRight>(std::int64_t{kMaxDepth} * kTileCols);
    for (int k = 0; k < inner; k += kMaxDepth) {
      const int depth = std::min(kMaxDepth, inner - k);
      product.source.right(k, depth, row, count, right);
      for (int i = 0; i < count; ++i)
        for (int j = 0; j < depth; ++j) values[std::int64_t{i} * inner + k + j] = right[j * kTileCols + i];
    }
  };
  made.source.right = [&product, inner](int k, int depth, int col, int count, float* values) {
    // A tile asks for all depths one after the other.
    float* rows = room<float, struct TurnedLeft>(std::int64_t{kTileCols} * inner);
    if (k == 0) product.source.left(col, count, rows);
    turn<float>(
        depth, count, [&](int i) { return values + i * kTileCols; },
        [&](int j) { return rows + std::int64_t{j} * inner + k; });
  };
  for (FloatProduct::Piece& addend : made.addends) {
    addend = [piece = addend](int row, int col, int count, float* values) {
      for (int i = 0; i < count; ++i) piece(col + i, row, 1, values + i);
    };
  }
  made.store = [results, cols = product.size.cols](const Tile& tile, const float* values, std::int64_t step) {
    for (int i = 0; i < tile.rows; ++i)
      for (int j = 0; j < tile.cols; ++j)
        results[std::int64_t{tile.col + j} * cols + tile.row + i] = values[i * step + j];
  };
  return made;
}

// False, with nothing stored, where a result is a NaN: which of two NaNs a product is depends on their order.
bool multiply_turned(const FloatProduct& product) {
  const auto [rows, inner, cols] = product.size;
  const std::int64_t count = std::int64_t{rows} * cols;
  float* results = room<float, struct TurnedResults>(count);
  multiply(turned(product, results));
  if (std::any_of(results, results + count, [](float value) { return std::isnan(value); })) return false;
  for (int row = 0; row < rows; row += kTileCols)
    product.store({row, std::min(kTileCols, rows - row), 0, cols}, results + std::int64_t{row} * cols, cols);
  return true;
}

}  // namespace

void multiply(const FloatProduct& product) {
  if (is_narrow(product) && multiply_turned(product)) return;
  const float* left = load_left(product.size, product.source);
  const FloatProduct* second = product.second;
  const float* second_left = second != nullptr ? load_left<float, 1>(second->size, second->source) : nullptr;
  Results<float> results(product.size, product.store_last, product.store);
  const bool two_lanes = product.rule == FloatSum::kTwoLanes;
  const bool has_whole_groups = !two_lanes && product.tail_begin > 0;
  const bool shallow = !has_whole_groups && product.packed != nullptr && product.size.inner <= kShallowInner;
  for_each_tile(product.size, product.packed, shallow, [&](const Tile& tile, int at) {
    float* sums = room_of<float, 0>(tile);
    (two_lanes ? two_lane_tile : group_tile)(product, left, tile, at, sums);
    if (second != nullptr && !joined_tile(*second, second_left, tile, at, true, sums)) {
      float* more = room_of<float, 3>(tile);
      two_lane_tile(*second, second_left, tile, at, more);
      kernels().join(tile.rows, more, sums);
    }
    if (product.relu) {
      const bool keeps_nan = product.relu_keeps_nan;
      for (int i = 0; i < tile.rows * kTileCols; ++i)
        sums[i] = sums[i] > 0 || (keeps_nan && std::isnan(sums[i])) ? sums[i] : 0.0F;
    }
    results.tile(tile, sums);
  });
  results.finish();
}

void multiply(const WordProduct& product) {
  const std::uint64_t* left = load_left(product.size, product.source);
  Results<std::uint64_t> results(product.size, product.store_last, product.store);
  for_each_tile(product.size, nullptr, false, [&](const Tile& tile, int) {
    std::uint64_t* sums = sums_of<std::uint64_t, 0>(tile);
    word_tile(product, left, tile, sums);
    results.tile(tile, sums);
  });
  results.finish();
}

}  // namespace softtpu
