// Dynamic quantisation with a product: each row of x (fp16) gets a scale from its largest absolute value and becomes
// int8; the product with int8 weights is exact; the sums times both scales are the output. A row is a channel.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, x, weight, weight_scale;  // [m, n] fp16; [m, k] fp16; [k, n] int8; [n] fp32
  int m, k, n;
} dynamic_quant_args_t;

void dynamic_quant(const void* raw) {
  const dynamic_quant_args_t* args = raw;
  const int npus = tpu_npu_num(), m = args->m, k = args->k, n = args->n;
  const local_addr_t row_wide = (local_addr_t)tpu_aligned_feature_size(1, k, DT_FP32);
  const local_addr_t row_sums = (local_addr_t)tpu_aligned_feature_size(1, n, DT_FP32);
  const local_addr_t row_weights = (local_addr_t)tpu_aligned_feature_size(1, n, DT_INT8);
  const local_addr_t weights = 0, scales = weights + (local_addr_t)DIV_UP(k, npus) * row_weights;
  const local_addr_t x = scales + row_sums, y = x + row_wide, quantised = y + row_wide, sums = quantised + row_wide;
  const local_addr_t wide = sums + row_sums, most = wide + row_sums, scale = most + 64, factor = scale + 64;
  const dim2 row_window = {1, k}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  TPUKERNEL_ASSERT(m > 0 && k > 0 && n > 0 && factor + 64 <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  const dim4 weight_shape = {1, k, 1, n}, everywhere = {1, npus, 1, n};
  tpu_gdma_cpy_S2L(weights, args->weight, &weight_shape, NULL, NULL, DT_INT8);
  tpu_gdma_channel_bcast_S2L(scales, args->weight_scale, &everywhere, NULL, NULL, DT_FP32);
  for (int first = 0; first < m; first += npus) {
    const int rows = MIN(npus, m - first);
    const dim4 in = {1, rows, 1, k}, out = {1, rows, 1, n}, one_per_row = {1, rows, 1, 1};
    dim4 repeat;
    tpu_aligned_stride(&repeat, 0, &one_per_row, DT_FP32);
    repeat.h = repeat.w = 0;
    tpu_gdma_cpy_S2L(y, args->x + 2ull * (unsigned)first * (unsigned)k, &in, NULL, NULL, DT_FP16);
    tpu_bdc_cast(x, y, &in, NULL, NULL, DT_FP32, DT_FP16, RM_HALF_TO_EVEN);
    tpu_bdc_abs(y, x, &in, NULL, NULL, DT_FP32);
    tpu_bdc_fp_max_pool2d(most, y, &in, &row_window, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 0});
    tpu_bdc_max_C(most, most, (scalar_t){.f32 = 1e-8f}, &one_per_row, NULL, NULL, DT_FP32);  // a row of zeros
    tpu_bdc_fp_mul_C(scale, most, (scalar_t){.f32 = 1.0f / 127}, &one_per_row, NULL, NULL, DT_FP32);
    tpu_bdc_fp32_reciprocal(factor, scale, &one_per_row, NULL, NULL);
    tpu_bdc_fp_mul(x, x, factor, &in, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_cast(quantised, x, &in, NULL, NULL, DT_INT8, DT_FP32, RM_HALF_TO_EVEN);  // clamps
    tpu_bdc_int8_zp_mm(sums, quantised, weights, (scalar_t){.s8 = 0}, rows, k, n, DT_INT8, DT_INT8, false);
    tpu_bdc_cast(wide, sums, &out, NULL, NULL, DT_FP32, DT_INT32, RM_HALF_TO_EVEN);
    tpu_bdc_fp_mul(wide, wide, scale, &out, NULL, NULL, &repeat, DT_FP32);
    tpu_bdc_fp_mul(wide, wide, scales, &out, NULL, NULL, NULL, DT_FP32);
    tpu_bdc_cast(sums, wide, &out, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
    tpu_gdma_cpy_L2S(args->out + 2ull * (unsigned)first * (unsigned)n, sums, &out, NULL, NULL, DT_FP16);
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(dynamic_quant)
