// out = (in - mean) / sqrt(variance + epsilon) * gamma + beta for each row; fp16 in memory, fp32 inside. A row is a
// channel, so that a mean is a pooling over the whole row.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

static const dim2 one = {1, 1};
static const padding_t none = {0, 0, 0, 0};

// The mean of each row.
static void mean(local_addr_t to, local_addr_t from, const dim4* shape) {
  const dim2 row = {1, shape->w};
  tpu_bdc_fp_avg_pool2d(to, from, shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 1.0f / (float)shape->w});
}

int layernorm(const void* raw) {
  const layernorm_args_t* args = raw;
  const int npus = tpu_npu_num(), columns = args->columns;
  const local_addr_t wide = (local_addr_t)tpu_aligned_feature_size(1, columns, DT_FP32);
  const local_addr_t half = (local_addr_t)tpu_aligned_feature_size(1, columns, DT_FP16);
  const local_addr_t gamma = 0, beta = gamma + wide, x = beta + wide, y = x + wide, stored = y + wide;
  const local_addr_t per_row = stored + half, deviation = per_row + 64;
  TPUKERNEL_ASSERT(args->rows > 0 && columns > 0);
  TPUKERNEL_ASSERT(deviation + 64 <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  // gamma and beta stand in every NPU.
  const dim4 everywhere = {1, npus, 1, columns};
  tpu_gdma_channel_bcast_S2L(stored, args->gamma, &everywhere, NULL, NULL, DT_FP16);
  tpu_bdc_cast(gamma, stored, &everywhere, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
  tpu_gdma_channel_bcast_S2L(stored, args->beta, &everywhere, NULL, NULL, DT_FP16);
  tpu_bdc_cast(beta, stored, &everywhere, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
  for (int row = 0; row < args->rows; row += npus) {
    const dim4 shape = {1, MIN(npus, args->rows - row), 1, columns}, one_per_row = {1, shape.c, 1, 1};
    const address_t offset = (address_t)row * (unsigned)columns * 2;
    dim4 repeat;  // one number of a row for all its columns: W stride 0
    tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
    repeat.h = repeat.w = 0;
    tpu_gdma_cpy_S2L(stored, args->in + offset, &shape, NULL, NULL, DT_FP16);
    tpu_bdc_cast(x, stored, &shape, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
    mean(per_row, x, &shape);
    tpu_bdc_fp_sub(x, x, per_row, &shape, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_fp_mul(y, x, x, &shape, NULL, NULL, NULL, DT_FP32);
    mean(per_row, y, &shape);  // the variance
    tpu_bdc_fp_add_C(per_row, per_row, (scalar_t){.f32 = args->epsilon}, &one_per_row, NULL, NULL, DT_FP32);
    tpu_bdc_fp32_rsqrt(deviation, per_row, &one_per_row);
    tpu_bdc_fp_mul(x, x, deviation, &shape, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_fp_mul(x, x, gamma, &shape, NULL, NULL, NULL, DT_FP32);
    tpu_bdc_fp_add(x, x, beta, &shape, NULL, NULL, NULL, DT_FP32);
    tpu_bdc_cast(stored, x, &shape, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
    tpu_gdma_cpy_L2S(args->out + offset, stored, &shape, NULL, NULL, DT_FP16);
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(layernorm)
