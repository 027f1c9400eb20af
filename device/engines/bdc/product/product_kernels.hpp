// The inner loops of products of floats, on one tile: `left` has `step` elements from row to row, row k of the right
// matrix starts at right[offsets[k]], sums have rows of kTileCols elements. Of the columns, `cols` count; up to
// kTileCols may be read and computed.
#pragma once

#include <cstdint>

namespace softtpu {

struct TileSize {
  int rows = 0, inner = 0, cols = 0;
  bool nan_wins = false;  // in groups, over an infinity
};

struct ProductKernels {
  // first[...] += the products 0, 2, 4 ...; second[...] += the products 1, 3, 5 ..., one by one.
  void (*two_lanes)(TileSize size, const float* left, std::int64_t step, const float* right,
                    const std::int64_t* offsets, float* first, float* second);
  // Both lanes of these products alone, from zero and joined: sums[...] = them, or += them.
  void (*joined_lanes)(TileSize size, const float* left, std::int64_t step, const float* right,
                       const std::int64_t* offsets, bool add, float* sums);
  // sums[...] += each group of `group` products (the last one may be short), summed as the 16-bit units do.
  void (*groups)(TileSize size, int group, const float* left, std::int64_t step, const float* right,
                 const std::int64_t* offsets, float* sums);
  // sums[...] += other[...]. The payload of a NaN depends on the order in which a processor takes its operands: one NaN
  // stands for all.
  void (*join)(int rows, const float* other, float* sums);
};

extern const ProductKernels kPlainProductKernels;
// The loops with SIMD instructions of the best instruction set that may be used (kernel_choice.hpp).
ProductKernels fast_product_kernels();

// One group of `count` products as the 16-bit units sum it (numerics: bm1684x-matmul-conv-pool.md, aligned_group_sum)
// in column `col` of the right matrix. Operands are f16, bf16 or FP8
// values.
float aligned_group_sum(const float* left, const float* right, const std::int64_t* offsets, int col, int count,
                        bool nan_wins);

}  // namespace softtpu
