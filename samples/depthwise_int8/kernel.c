// Depthwise 3 x 3 convolution in 8 bits, requantisation for each channel, ReLU, maximum of 2 x 2, one batch at a time.
#include <tpu_kernel.h>

#include "args.h"

typedef unsigned long long address_t;

int depthwise_int8(const void* raw) {
  const depthwise_int8_args_t* args = raw;
  const int c = args->c, h = args->h, w = args->w;
  const dim4 shape = {1, c, h, w}, pooled_shape = {1, c, h / 2, w / 2};
  const dim4 weights_shape = {1, c, 3, 3}, per_channel = {1, c, 1, 1}, table = {1, c, 1, args->requant_words};
  const dim2 window = {3, 3}, pool = {2, 2}, one = {1, 1};
  const padding_t around = {1, 1, 1, 1}, none = {0, 0, 0, 0};
  const int channels = tpu_channle_num_per_npu(0, c);
  const local_addr_t plane = (local_addr_t)(channels * tpu_aligned_feature_size(h, w, DT_INT8));
  const local_addr_t weights = 0, bias = 4096, requant = 8192, in = 12288;
  const local_addr_t sums = in + plane;
  const local_addr_t end = sums + (local_addr_t)(channels * tpu_aligned_feature_size(h, w, DT_INT32));
  const local_addr_t scaled = in, pooled = sums;  // once the input, and the sums, have served
  TPUKERNEL_ASSERT(args->n > 0 && c > 0 && h > 1 && w > 1 && channels * 64 <= 4096);
  TPUKERNEL_ASSERT(end <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  tpu_gdma_compact_S2L(weights, args->weights, &weights_shape, DT_INT8);
  tpu_gdma_compact_S2L(bias, args->bias, &per_channel, DT_INT32);
  if (args->requant_words == 3) {
    tpu_gdma_cpy_S2L(requant, args->requant, &table, NULL, NULL, DT_INT32);
  } else {
    tpu_gdma_compact_S2L(requant, args->requant, &table, DT_INT32);
  }
  const scalar_t zero = {.s8 = (signed char)args->in_zero};
  const unsigned in_bytes = (unsigned)(c * h * w), out_bytes = (unsigned)(c * (h / 2) * (w / 2));
  for (int n = 0; n < args->n; ++n) {
    tpu_gdma_cpy_S2L(in, args->in + (address_t)n * in_bytes, &shape, NULL, NULL, DT_INT8);
    tpu_bdc_int8_depthwise2d(sums, in, weights, bias, zero, &shape, &window, &around, &one, &one, DT_INT32, DT_INT8,
                             DT_INT8, DT_INT32, 0, true, false, RM_HALF_UP);
    // The clamp to uint8 is the ReLU: the offset is 0, so negative values become 0.
    tpu_bdc_int_pc_requant(scaled, sums, requant, &shape, DT_UINT8, DT_INT32, RM_HALF_UP);
    tpu_bdc_int8_max_pool2d(pooled, scaled, &shape, &pool, &none, &pool, &one, DT_UINT8, (scalar_t){.u8 = 0});
    tpu_gdma_cpy_L2S(args->out + (address_t)n * out_bytes, pooled, &pooled_shape, NULL, NULL, DT_UINT8);
  }
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(depthwise_int8)
