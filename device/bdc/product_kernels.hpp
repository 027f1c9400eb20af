// The inner loops of products, on one tile: `left` has `step` elements from row to row; `right`, and the sums, have
// rows of kTileCols elements, of which `cols` count (more may be computed: the buffers end at full rows).
#pragma once

#include <cstdint>

namespace softtpu {

struct TileSize {
  int rows = 0, inner = 0, cols = 0;
};

struct ProductKernels {
  // first[...] += the products 0, 2, 4 ...; second[...] += the products 1, 3, 5 ..., one by one.
  void (*two_lanes)(TileSize size, const float* left, std::int64_t step, const float* right, float* first,
                    float* second);
  // sums[...] += each group of `group` products (the last one may be short), summed as the 16-bit units do.
  void (*groups)(TileSize size, int group, const float* left, std::int64_t step, const float* right, float* sums);
  // sums[...] += the products of bytes, column_sums[...] += the columns of `right`, unless nullptr; modulo 2^32. Up to
  // three bytes behind a row of `left` are read, whatever they are.
  void (*bytes)(TileSize size, bool left_signed, bool right_signed, const std::uint8_t* left, std::int64_t step,
                const std::uint8_t* right, std::uint32_t* sums, std::uint32_t* column_sums);
};

extern const ProductKernels kPlainProductKernels;
// The loops with SIMD instructions of the best instruction set that may be used (kernel_choice.hpp).
ProductKernels fast_product_kernels();
decltype(ProductKernels::bytes) fast_byte_kernel();

struct FloatKernels {
  decltype(ProductKernels::two_lanes) two_lanes;
  decltype(ProductKernels::groups) groups;
};

// One group of `count` products as the 16-bit units sum it (numerics: bm1684x-matmul-conv-pool.md, aligned_group_sum);
// `step` separates the right elements. Operands are f16 or bf16 values.
float aligned_group_sum(const float* left, const float* right, std::int64_t step, int count);

}  // namespace softtpu
