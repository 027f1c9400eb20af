// Softmax of each row. A row is one channel, so that the NPUs work on different rows; per row: largest element,
// difference, exponential, sum, quotient. Largest and sum are poolings over the whole row.
#include <tpu_kernel.h>

#include "args.h"

// Rows `first` to `first + rows - 1`.
static void softmax_of(const softmax_args_t* args, int first, int rows) {
  const dim4 shape = {1, rows, 1, args->columns}, one_per_row = {1, rows, 1, 1};
  const dim2 row = {1, args->columns}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  const int channels = tpu_channle_num_per_npu(0, rows);
  const local_addr_t tensor = (local_addr_t)(channels * tpu_aligned_feature_size(1, args->columns, DT_FP32));
  const local_addr_t coeff = 0, table = coeff + 256, x = table + 1024, y = x + tensor, work0 = y + tensor;
  const local_addr_t work1 = work0 + tensor, per_row = work1 + tensor;
  const unsigned long long offset = 4ull * (unsigned)first * (unsigned)args->columns;

  // Read one number per row for every element of the row: W stride 0.
  dim4 repeat;
  tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
  repeat.h = repeat.w = 0;
  tpu_gdma_cpy_S2L(x, args->in + offset, &shape, NULL, NULL, DT_FP32);
  tpu_bdc_fp_max_pool2d(per_row, x, &shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 0});
  tpu_bdc_fp_sub(x, x, per_row, &shape, NULL, NULL, &repeat, DT_FP32);
  tpu_bdc_fp32_exp(y, x, work0, work1, coeff, table, &shape);
  tpu_bdc_fp_avg_pool2d(per_row, y, &shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 1});
  tpu_bdc_fp_div(y, y, per_row, &shape, NULL, NULL, &repeat, DT_FP32);
  tpu_gdma_cpy_L2S(args->out + offset, y, &shape, NULL, NULL, DT_FP32);
}

int softmax(const void* raw) {
  const softmax_args_t* args = raw;
  TPUKERNEL_ASSERT(args->rows > 0 && args->columns > 0);
  // Coefficients and table, then four tensors and a number for each row.
  const int row_bytes =
      4 * tpu_aligned_feature_size(1, args->columns, DT_FP32) + tpu_aligned_feature_size(1, 1, DT_FP32);
  const int fits = (tpu_local_mem_size_per_npu() - 256 - 1024) / row_bytes * tpu_npu_num();
  TPUKERNEL_ASSERT(fits > 0);

  tpu_initialize();
  tpu_bdc_load_fp32_exp_coeff(0);
  tpu_bdc_load_fp32_exp_table(256);
  for (int first = 0; first < args->rows; first += fits) softmax_of(args, first, MIN(fits, args->rows - first));
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(softmax)
