// out = left x right + bias in fp32. The right matrix stays in local memory; the left one passes through in blocks of
// rows.
#include <tpu_kernel.h>

#include "args.h"

// A matrix lies in the matrix layout: its columns are cut into channels of this many, one channel per NPU.
#define COLUMNS 16
#define ROWS 128  // of a block of the left matrix

static local_addr_t bytes_of(int rows, int cols) {
  const int channels = (cols + COLUMNS - 1) / COLUMNS;
  const int per_npu = (channels + tpu_npu_num() - 1) / tpu_npu_num();
  return (local_addr_t)(rows * per_npu * ALIGN(COLUMNS, tpu_eu_num(DT_FP32)) * 4);
}

int matmul(const void* raw) {
  const matmul_args_t* args = raw;
  const int m = args->m, k = args->k, n = args->n;
  const local_addr_t right = 0;
  const local_addr_t bias = right + bytes_of(k, n);
  const local_addr_t left = bias + bytes_of(1, n);
  const local_addr_t out = left + bytes_of(ROWS, k);
  TPUKERNEL_ASSERT(m > 0 && k > 0 && n > 0);
  TPUKERNEL_ASSERT(out + bytes_of(ROWS, n) <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  tpu_gdma_matrix_S2L(right, args->right, k, n, COLUMNS, n, DT_FP32);
  tpu_gdma_matrix_S2L(bias, args->bias, 1, n, COLUMNS, n, DT_FP32);
  for (int row = 0; row < m; row += ROWS) {
    const int rows = MIN(ROWS, m - row);
    tpu_gdma_matrix_S2L(left, args->left + 4ull * (unsigned)row * (unsigned)k, rows, k, COLUMNS, k, DT_FP32);
    tpu_bdc_fp32_mm(out, left, right, bias, rows, k, n, COLUMNS, COLUMNS, true, false);
    tpu_gdma_matrix_L2S(args->out + 4ull * (unsigned)row * (unsigned)n, out, rows, n, COLUMNS, n, DT_FP32);
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(matmul)
