// A depthwise convolution in fp32: the feature maps pass through local memory in tiles of output rows.
#include "../bm1684_common/row_tiles.h"
#include "args.h"

typedef struct {
  local_addr_t weight, bias;
} weights_t;

static void depthwise_tile(const window_t* win, const tile_t* tile, local_addr_t output, local_addr_t input,
                           const void* context) {
  const weights_t* weights = context;
  const dim4 shape = input_shape(win, tile);
  const dim2 stride = {win->stride, win->stride}, dilation = {win->dilation, win->dilation};
  okk_bdc_depthwise2d(output, input, weights->weight, weights->bias, &shape, win->kernel_h, win->kernel_w, true,
                      &tile->padding, &stride, &dilation);
}

void depthwise(const void* raw) {
  const depthwise_args_t* args = raw;
  const window_t win = {args->n,        args->c,   args->h,      args->w,        args->c, args->kernel_h,
                        args->kernel_w, args->pad, args->stride, args->dilation, 0};
  OKKERNEL_ASSERT(out_h(&win) > 0 && out_w(&win) > 0);
  okk_initialize();
  const dim4 taps = {1, args->c, args->kernel_h, args->kernel_w}, values = {1, args->c, 1, 1};
  dim4 tap_stride, value_stride;
  okk_compact_stride(&tap_stride, 0, &taps);
  okk_compact_stride(&value_stride, 0, &values);
  const weights_t weights = {0, (unsigned)tap_stride.n * sizeof(float)};
  okk_gdma_32bit_cpy_S2L(weights.weight, args->weight, &taps, &tap_stride, NULL);
  okk_gdma_32bit_cpy_S2L(weights.bias, args->bias, &values, &value_stride, NULL);
  const local_addr_t end = weights.bias + (unsigned)value_stride.n * sizeof(float);
  run_tiles(&win, args->output, args->input, (end + 127) / 128 * 128, depthwise_tile, &weights);
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(depthwise);
