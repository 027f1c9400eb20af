// A product of fp16 activations with 4-bit weights (W4A16): two weights share a byte, the even column's in its low
// half, each stands for (bits - 8) * scale of its column. They are unpacked to fp16 in local memory, and multiplied
// there.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, x, weight, scale;  // [m, n] fp16; [m, k] fp16; [k, n / 2] bytes; [n] fp16
  int m, k, n;
} w4a16_args_t;

void w4a16(const void* raw) {
  const w4a16_args_t* args = raw;
  const int npus = tpu_npu_num(), m = args->m, k = args->k, n = args->n;
  const int m_rows = DIV_UP(m, npus), k_rows = DIV_UP(k, npus);  // in each NPU
  const dim4 weight_shape = {1, k, 1, n}, packed_shape = {1, k, 1, n / 2}, everywhere = {1, npus, 1, n};
  const dim4 x_shape = {1, m, 1, k}, out_shape = {1, m, 1, n};
  const local_addr_t weights = 0, packed = weights + (local_addr_t)(k_rows * tpu_aligned_feature_size(1, n, DT_FP16));
  const local_addr_t half_byte = packed + (local_addr_t)(k_rows * tpu_aligned_feature_size(1, n / 2, DT_UINT8));
  const local_addr_t scale = half_byte + (local_addr_t)(k_rows * tpu_aligned_feature_size(1, n / 2, DT_UINT8));
  const local_addr_t x = scale + (local_addr_t)tpu_aligned_feature_size(1, n, DT_FP16);
  const local_addr_t sums = x + (local_addr_t)(m_rows * tpu_aligned_feature_size(1, k, DT_FP16));
  const local_addr_t out = sums + (local_addr_t)(m_rows * tpu_aligned_feature_size(1, n, DT_FP32));
  TPUKERNEL_ASSERT(m > 0 && k > 0 && n > 0 && n % 2 == 0);
  TPUKERNEL_ASSERT(out + (local_addr_t)(m_rows * tpu_aligned_feature_size(1, n, DT_FP16)) <=
                   (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  tpu_gdma_cpy_S2L(packed, args->weight, &packed_shape, NULL, NULL, DT_UINT8);
  tpu_gdma_channel_bcast_S2L(scale, args->scale, &everywhere, NULL, NULL, DT_FP16);
  dim4 every_other, repeat;  // the even or the odd columns of the weights; one row of scales for all rows
  tpu_aligned_stride(&every_other, 0, &weight_shape, DT_FP16);
  every_other.w = 2;
  tpu_aligned_stride(&repeat, 0, &everywhere, DT_FP16);
  repeat.c = 0;
  tpu_bdc_and_C(half_byte, packed, (scalar_t){.u8 = 15}, &packed_shape, NULL, NULL, DT_UINT8);
  tpu_bdc_cast(weights, half_byte, &packed_shape, &every_other, NULL, DT_FP16, DT_UINT8, RM_HALF_TO_EVEN);
  tpu_bdc_logical_shift_C(half_byte, packed, -4, &packed_shape, NULL, NULL, DT_UINT8, DT_UINT8, RM_DOWN);
  tpu_bdc_cast(weights + 2, half_byte, &packed_shape, &every_other, NULL, DT_FP16, DT_UINT8, RM_HALF_TO_EVEN);
  const scalar_t eight = tpu_fp_cast((scalar_t){.f32 = 8}, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
  tpu_bdc_fp_sub_C(weights, weights, eight, &weight_shape, NULL, NULL, DT_FP16);
  tpu_bdc_fp_mul(weights, weights, scale, &weight_shape, NULL, NULL, &repeat, DT_FP16);
  tpu_gdma_cpy_S2L(x, args->x, &x_shape, NULL, NULL, DT_FP16);
  tpu_bdc_fp_mm(sums, x, weights, m, k, n, DT_FP32, DT_FP16, false);
  tpu_bdc_cast(out, sums, &out_shape, NULL, NULL, DT_FP16, DT_FP32, RM_HALF_TO_EVEN);
  tpu_gdma_cpy_L2S(args->out, out, &out_shape, NULL, NULL, DT_FP16);
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(w4a16)
