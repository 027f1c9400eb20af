// Four ways to transpose a tensor. Copies that transpose run on the GDMA, from any memory to any memory.
#include <tpu_kernel.h>

#include "args.h"

// (n, c, h, w) to (n, h, w, c): pixels become channels. h and w count as one extent, since they stay side by side.
int nchw_to_nhwc(const void* raw) {
  const transpose_args_t* args = raw;
  const dim4 out = {args->n, args->h * args->w, 1, args->c};
  tpu_initialize();
  tpu_gdma_cpy_cw_trans_S2S(args->out, args->in, &out, NULL, NULL, DT_INT32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(nchw_to_nhwc)

// (n, c, h, w) to (c, n, h, w): rows of h x w move as they are. Splits and joins heads, or brings a sequence to the
// front.
int swap_n_and_c(const void* raw) {
  const transpose_args_t* args = raw;
  const dim4 out = {args->c, args->n, args->h, args->w};
  tpu_initialize();
  tpu_gdma_cpy_nc_trans_S2S(args->out, args->in, &out, NULL, NULL, DT_INT32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(swap_n_and_c)

// (n, c, h, w) to (n, h, c, w): a plain copy whose source has its strides in another order.
int swap_c_and_h(const void* raw) {
  const transpose_args_t* args = raw;
  const dim4 out = {args->n, args->h, args->c, args->w};
  const dim4 stride = {args->c * args->h * args->w, args->w, args->h * args->w, 1};
  tpu_initialize();
  tpu_gdma_cpy_S2S(args->out, args->in, &out, NULL, &stride, DT_INT32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(swap_c_and_h)

// (n, c, h, w) to (n, w, h, c) inside local memory, by the BDC. For tensors that are there anyway.
int swap_c_and_w(const void* raw) {
  const transpose_args_t* args = raw;
  const dim4 in = {args->n, args->c, args->h, args->w}, out = {args->n, args->w, args->h, args->c};
  const local_addr_t from = 0, to = (local_addr_t)tpu_get_local_size(&in, DT_INT32, 0, true);
  TPUKERNEL_ASSERT(to + (local_addr_t)tpu_get_local_size(&out, DT_INT32, 0, true) <=
                   (local_addr_t)tpu_local_mem_size_per_npu());
  tpu_initialize();
  tpu_gdma_cpy_S2L(from, args->in, &in, NULL, NULL, DT_INT32);
  tpu_bdc_wc_trans(to, from, &out, DT_INT32);
  tpu_gdma_cpy_L2S(args->out, to, &out, NULL, NULL, DT_INT32);
  tpu_poll();
  return 0;
}
TPUKERNEL_FUNC_REGISTER(swap_c_and_w)
