// A product as a sum of outer products, one command for each step of the inner dimension: what a kernel does that must
// add in one given order. 100,000 tiny commands are no rarity in such kernels.
#include <okk.h>

#include "../bm1684_matmul/args.h"

enum { COLUMNS = 32, BLOCK = 512 };

static int least(int a, int b) { return a < b ? a : b; }

// Rows [first, first + count) of the right matrix, and as many columns of the left one, each a matrix of one column.
static void load(const matmul_args_t* args, int first, int count, local_addr_t right, local_addr_t left) {
  const dim4 columns = {count, 1, args->m, 1}, to = {COLUMNS * args->m, COLUMNS, COLUMNS, 1}, from = {1, 1, args->k, 1};
  okk_gdma_32bit_matrix_S2L(right, args->right + 4ull * (unsigned)first * (unsigned)args->n, count, args->n, COLUMNS,
                            args->n);
  okk_gdma_32bit_cpy_S2L(left, args->left + 4ull * (unsigned)first, &columns, &to, &from);
}

void matmul_by_steps(const void* raw) {
  const matmul_args_t* args = raw;
  OKKERNEL_ASSERT(args->m > 0 && args->m <= 2 && args->k > 0 && args->n > 0 && args->n <= COLUMNS * okk_npu_num());
  okk_initialize();
  const unsigned row_bytes = COLUMNS * sizeof(float), left_bytes = (unsigned)args->m * row_bytes;
  const local_addr_t right[2] = {0, BLOCK * row_bytes};
  const local_addr_t left[2] = {2 * BLOCK * row_bytes, 2 * BLOCK * row_bytes + BLOCK * left_bytes};
  const local_addr_t out = 2 * BLOCK * (row_bytes + left_bytes);
  const int blocks = (args->k + BLOCK - 1) / BLOCK;
  for (int i = 0; i <= blocks; ++i) {
    okk_parallel_start();
    if (i < blocks) load(args, i * BLOCK, least(BLOCK, args->k - i * BLOCK), right[i % 2], left[i % 2]);
    for (int k = 0; i > 0 && k < least(BLOCK, args->k - (i - 1) * BLOCK); ++k) {
      okk_bdc_matmul(out, left[(i - 1) % 2] + (unsigned)k * left_bytes, right[(i - 1) % 2] + (unsigned)k * row_bytes, 0,
                     args->m, 1, args->n, 1, COLUMNS, false, i > 1 || k > 0);
    }
    okk_parallel_end();
  }
  okk_gdma_32bit_matrix_L2S(args->output, out, args->m, args->n, COLUMNS, args->n);
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(matmul_by_steps);
