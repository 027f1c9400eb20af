// out = left x right in fp16, matrices of any size. The output is cut into tiles; for each tile K is cut too, and the
// product of every piece of K is added to sums in fp32. While one piece is multiplied, the next is loaded.
#include <tpu_kernel.h>

#include "../common/chip_kernel.h"
#include "args.h"

typedef unsigned long long address_t;

// A tile of a matrix is the tensor (1, rows, 1, columns): row r is channel r, so 64 rows fill the NPUs once.
// TILE_K is a multiple of 32: tpu_bdc_fp_mm sums groups of 32 products, and a cut inside a group would change the bits.
enum { TILE_M = 128, TILE_N = 256, TILE_K = 256 };

// Each buffer has a bank of its own (16 KiB), so the two engines never wait for each other.
enum { BANK = 16384, LEFT = 0, RIGHT = 2, SUMS = 4, HALF = 5 };

static local_addr_t bank(int index) { return (local_addr_t)(index * BANK); }

// rows x columns at (row, column) of a matrix in global memory that has `width` columns.
static void load(local_addr_t to, address_t matrix, int row, int column, int rows, int columns, int width) {
  const dim4 shape = {1, rows, 1, columns}, stride = {0, width, width, 1};
  const address_t first = (address_t)row * (unsigned)width + (unsigned)column;
  tpu_gdma_cpy_S2L(to, matrix + 2 * first, &shape, NULL, &stride, DT_FP16);
}

static void multiply_tile(const fp16_matmul_args_t* args, int row, int column) {
  const int m = MIN(TILE_M, args->m - row), n = MIN(TILE_N, args->n - column);
  const int pieces = DIV_UP(args->k, TILE_K);
  for (int step = 0; step <= pieces; ++step) {
    tpu_parallel_start();
    if (step < pieces) {
      const int first = step * TILE_K, k = MIN(TILE_K, args->k - first);
      load(bank(LEFT + step % 2), args->left, row, first, m, k, args->k);
      load(bank(RIGHT + step % 2), args->right, first, column, k, n, args->n);
    }
    if (step > 0) {
      const int set = (step - 1) % 2, k = MIN(TILE_K, args->k - (step - 1) * TILE_K);
      tpu_bdc_fp_mm(bank(SUMS), bank(LEFT + set), bank(RIGHT + set), m, k, n, DT_FP32, DT_FP16, step > 1);
    }
    tpu_parallel_end();
  }
  const dim4 shape = {1, m, 1, n}, stride = {0, args->n, args->n, 1};
  const address_t first = (address_t)row * (unsigned)args->n + (unsigned)column;
  tpu_bdc_cast(bank(HALF), bank(SUMS), &shape, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
  tpu_gdma_cpy_L2S(args->out + 2 * first, bank(HALF), &shape, &stride, NULL, DT_FP16);
}

int fp16_matmul(const void* raw) {
  const fp16_matmul_args_t* args = raw;
  TPUKERNEL_ASSERT(args->m > 0 && args->k > 0 && args->n > 0);
  tpu_initialize();
  for (int row = 0; row < args->m; row += TILE_M)
    for (int column = 0; column < args->n; column += TILE_N) multiply_tile(args, row, column);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(fp16_matmul)
