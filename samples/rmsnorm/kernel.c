// out = in / sqrt(mean(in * in) + epsilon) * gamma for each row; fp16 in memory, fp32 inside. A row is a channel, so
// that the mean of its squares is a pooling over the whole row.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, in, gamma;
  int rows, columns;
  float epsilon;
} rmsnorm_args_t;

void rmsnorm(const void* raw) {
  const rmsnorm_args_t* args = raw;
  const int npus = tpu_npu_num(), columns = args->columns;
  const local_addr_t wide = (local_addr_t)tpu_aligned_feature_size(1, columns, DT_FP32);
  const local_addr_t half = (local_addr_t)tpu_aligned_feature_size(1, columns, DT_FP16);
  const local_addr_t gamma = 0, x = gamma + wide, y = x + wide, stored = y + wide, mean = stored + half,
                     factor = mean + 64;
  const dim2 row_window = {1, columns}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  TPUKERNEL_ASSERT(args->rows > 0 && columns > 0);
  TPUKERNEL_ASSERT(factor + 64 <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  const dim4 everywhere = {1, npus, 1, columns};  // gamma stands in every NPU
  tpu_gdma_channel_bcast_S2L(stored, args->gamma, &everywhere, NULL, NULL, DT_FP16);
  tpu_bdc_cast(gamma, stored, &everywhere, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
  for (int row = 0; row < args->rows; row += npus) {
    const dim4 shape = {1, MIN(npus, args->rows - row), 1, columns}, one_per_row = {1, shape.c, 1, 1};
    const unsigned long long offset = 2ull * (unsigned)row * (unsigned)columns;
    dim4 repeat;  // one number of a row for all its columns
    tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
    repeat.h = repeat.w = 0;
    tpu_gdma_cpy_S2L(stored, args->in + offset, &shape, NULL, NULL, DT_FP16);
    tpu_bdc_cast(x, stored, &shape, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
    tpu_bdc_fp_mul(y, x, x, &shape, NULL, NULL, NULL, DT_FP32);
    tpu_bdc_fp_avg_pool2d(mean, y, &shape, &row_window, &none, &one, &one, DT_FP32,
                          (scalar_t){.f32 = 1.0f / (float)columns});
    tpu_bdc_fp_add_C(mean, mean, (scalar_t){.f32 = args->epsilon}, &one_per_row, NULL, NULL, DT_FP32);
    tpu_bdc_fp32_rsqrt(factor, mean, &one_per_row);
    tpu_bdc_fp_mul(x, x, factor, &shape, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_fp_mul(x, x, gamma, &shape, NULL, NULL, NULL, DT_FP32);
    tpu_bdc_cast(stored, x, &shape, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
    tpu_gdma_cpy_L2S(args->out + offset, stored, &shape, NULL, NULL, DT_FP16);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(rmsnorm)
