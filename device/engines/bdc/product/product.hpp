// The core of matrix products and convolutions: sums of products of a left matrix (rows x inner) and a right matrix
// (inner x cols) under the chip's accumulation rules. A caller says how to load both operands and what to do with each
// finished piece of a result row; tiling, threads and the choice of inner loops are here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace softtpu {

inline constexpr int kTileCols = 96;  // columns of one tile: row pitch of all tile buffers
// Rows of the right matrix that are loaded at once: a tile of them (96 KiB of f32) stays in the L2 cache while all rows
// of the left matrix pass. A multiple of kMostGroupTerms and of 4, which the loops over bytes take at once.
inline constexpr int kMaxDepth = 256;
inline constexpr int kGroupTerms = 32;      // the most products that the 16-bit float units of a chip sum in one step
inline constexpr int kMostGroupTerms = 64;  // the same of FP8

struct ProductSize {
  int rows = 0, inner = 0, cols = 0;
};

// Loads operands as elements of type In. Called from several threads; must not change anything.
template <class In>
struct ProductSource {
  // All `inner` elements of rows [row, row + count) of the left matrix, one row behind the other.
  std::function<void(int row, int count, In* values)> left;
  // Rows [k, k + depth) of the right matrix, columns [col, col + count), into values[i * kTileCols + j].
  std::function<void(int k, int depth, int col, int count, In* values)> right;
};

// A part of the result.
struct Tile {
  int row = 0, rows = 0, col = 0, cols = 0;
};

// Takes a finished part of the result, with `step` values from row to row.
template <class T>
using Store = std::function<void(const Tile& tile, const T* values, std::int64_t step)>;
// One that takes its rows one by one: store(row, col, count, values).
template <class T, class StoreRow>
Store<T> by_rows(StoreRow store) {
  return [store](const Tile& tile, const T* values, std::int64_t step) {
    for (int i = 0; i < tile.rows; ++i) store(tile.row + i, tile.col, tile.cols, values + i * step);
  };
}

// A right matrix that lies in memory in parts of part_cols columns: element k of column j of tile t of part p is
// values[p * part_step + t * tile_step + offsets[k] + j]. Every part takes whole tiles of columns, kTileCols elements
// may be read from each place, and the product's size counts them all.
template <class In>
struct PackedRight {
  const In* values = nullptr;
  std::vector<std::int64_t> offsets;
  int parts = 0, part_cols = 0;
  std::int64_t part_step = 0, tile_step = kTileCols;

  int tiles_of_part() const { return (part_cols + kTileCols - 1) / kTileCols; }
  int tiles() const { return parts * tiles_of_part(); }
  const In* tile(int index) const {
    return values + index / tiles_of_part() * part_step + index % tiles_of_part() * tile_step;
  }
  // Columns of a tile that count.
  int cols(int index) const { return std::min(kTileCols, part_cols - index % tiles_of_part() * kTileCols); }
};

// How float products are summed (numerics: bm1684x-matmul-conv-pool.md section 1).
enum class FloatSum : std::uint8_t {
  kTwoLanes,  // the stream of addends and rounded products goes alternately to two running sums
  kGroups,    // the addends, then groups of products, each group aligned, cut and summed exactly
};

struct FloatProduct {
  using Piece = std::function<void(int row, int col, int count, float* values)>;
  FloatSum rule = FloatSum::kTwoLanes;
  ProductSize size;
  ProductSource<float> source;
  const PackedRight<float>* packed = nullptr;  // instead of source.right
  std::vector<Piece> addends;                  // what comes before the products, in order
  // kGroups: [0, tail_begin) of the inner dimension is in groups of `group`, the rest in groups of tail_group.
  int group = kGroupTerms;
  int tail_begin = 0, tail_group = 1;
  bool nan_wins = false;  // kGroups: over an infinity in its group
  // kTwoLanes: what this one of the same size gives is added to the result.
  const FloatProduct* second = nullptr;
  bool relu = false;  // what is not above 0 becomes +0, a NaN too unless relu_keeps_nan
  bool relu_keeps_nan = false;
  // kGroups: a NaN is negative unless the addends are a positive one. Else its sign follows the processor.
  bool signs_nan = false;
  Store<float> store;
  bool store_last = false;  // store only when everything has been read: the result overlaps an operand
};
void multiply(const FloatProduct& product);

// 16- and 32-bit integers, widened by the source to 64 bits; sums modulo 2^64.
struct WordProduct {
  ProductSize size;
  ProductSource<std::uint64_t> source;
  Store<std::uint64_t> store;
  bool store_last = false;
};
void multiply(const WordProduct& product);

}  // namespace softtpu
