// relu(conv(in) + bias) in fp16. One copy loads weights and bias: the host has merged them into the block that local
// memory wants.
#include <tpu_kernel.h>

#include "../common/chip_kernel.h"
#include "args.h"

static local_addr_t bytes_of(const dim4* shape) {
  const int channels = tpu_channle_num_per_npu(0, shape->c);
  return (local_addr_t)(shape->n * channels * tpu_aligned_feature_size(shape->h, shape->w, DT_FP16));
}

int conv(const void* raw) {
  const conv_args_t* args = raw;
  const dim4 in_shape = {args->n, args->ic, args->h, args->w};
  const dim4 out_shape = {args->n, args->oc, args->h, args->w};
  const dim4 block_shape = {1, args->lanes, 1, args->lane_bytes / 4};
  const dim2 kernel = {3, 3}, one = {1, 1};
  const padding_t padding = {1, 1, 1, 1};
  const local_addr_t block = 0;
  const local_addr_t in = (local_addr_t)ALIGN(args->lane_bytes, 64);
  const local_addr_t out = in + bytes_of(&in_shape);
  TPUKERNEL_ASSERT(out + bytes_of(&out_shape) <= (local_addr_t)tpu_local_mem_size_per_npu());

  tpu_initialize();
  tpu_gdma_cpy_S2L(block, args->block, &block_shape, NULL, NULL, DT_INT32);
  tpu_gdma_cpy_S2L(in, args->in, &in_shape, NULL, NULL, DT_FP16);
  tpu_bdc_fp_conv2d(out, in, block + (local_addr_t)args->weight_offset, block, &in_shape, NULL, args->oc, &kernel,
                    &padding, &one, &one, DT_FP16, DT_FP16, true, false);
  tpu_bdc_relu(out, out, &out_shape, NULL, NULL, DT_FP16);
  tpu_gdma_cpy_L2S(args->out, out, &out_shape, NULL, NULL, DT_FP16);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(conv)
