// Softmax of a matrix whose rows are shared among the cores of the launch.
#include <tpu_kernel.h>

#include "args.h"

static void softmax_tile(const softmax_args_t* args, int first, int rows) {
  const dim4 shape = {1, rows, 1, args->columns}, one_per_row = {1, rows, 1, 1};
  const dim2 row = {1, args->columns}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  const local_addr_t tensor = (local_addr_t)tpu_aligned_feature_size(1, args->columns, DT_FP32);
  const local_addr_t small = (local_addr_t)tpu_aligned_feature_size(1, 1, DT_FP32);
  const local_addr_t x = 0, y = x + tensor, work0 = y + tensor, work1 = work0 + tensor, per_row = work1 + tensor;
  const local_addr_t coeff = per_row + small, table = coeff + 256;
  const unsigned long long offset = (unsigned long long)first * (unsigned)args->columns * sizeof(float);
  TPUKERNEL_ASSERT(table + 1024 <= (local_addr_t)tpu_local_mem_size_per_npu());

  dim4 repeat;
  tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
  repeat.h = repeat.w = 0;
  tpu_bdc_load_fp32_exp_coeff(coeff);
  tpu_bdc_load_fp32_exp_table(table);
  tpu_gdma_cpy_S2L(x, args->in + offset, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_max_pool2d(per_row, x, &shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 0});
  tpu_bdc_fp_sub(x, x, per_row, &shape, NULL, NULL, &repeat, DT_FP32);
  tpu_bdc_fp32_exp(y, x, work0, work1, coeff, table, &shape);
  tpu_bdc_fp_avg_pool2d(per_row, y, &shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 1});
  tpu_bdc_fp_div(y, y, per_row, &shape, NULL, NULL, &repeat, DT_FP32);
  tpu_gdma_cpy_L2S(args->out + offset, y, &shape, NULL, NULL, DT_FP32);
}

int multicore_softmax(const void* raw) {
  const softmax_args_t* args = raw;
  const int cores = tpu_core_num(), core = tpu_core_index();
  TPUKERNEL_ASSERT(args->rows > 0 && args->columns > 0);
  tpu_initialize();
  // A tile has one row for each NPU. Tiles are dealt to the cores in turn, so that none has more than one more than
  // another.
  const int tile = tpu_npu_num();
  for (int first = core * tile; first < args->rows; first += cores * tile) {
    const int left = args->rows - first;
    softmax_tile(args, first, left < tile ? left : tile);
  }
  tpu_poll();
  tpu_sync_all();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(multicore_softmax)
