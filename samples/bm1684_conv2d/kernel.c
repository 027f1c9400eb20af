// A convolution in fp32: the weights stay in local memory in 2IC mode, the feature maps pass through in tiles of output rows.
#include "../bm1684_common/row_tiles.h"
#include "args.h"

typedef struct {
  local_addr_t weight, bias;
  dim4 kernel_stride;  // in pairs
} weights_t;

static void conv_tile(const window_t* win, const tile_t* tile, local_addr_t output, local_addr_t input, const void* context) {
  const weights_t* weights = context;
  const dim4 shape = input_shape(win, tile);
  const dim2 stride = {win->stride, win->stride}, dilation = {win->dilation, win->dilation};
  okk_bdc_conv2d(output, input, weights->weight, weights->bias, &shape, win->out_c, win->kernel_h, win->kernel_w, NULL,
                 &weights->kernel_stride, true, false, &tile->padding, &stride, &dilation);
}

void conv2d(const void* raw) {
  const conv_args_t* args = raw;
  const window_t win = {args->n,        args->c,        args->h,   args->w,      args->out_c,
                        args->kernel_h, args->kernel_w, args->pad, args->stride, args->dilation};
  OKKERNEL_ASSERT(out_h(&win) > 0 && out_w(&win) > 0);
  okk_initialize();

  // As 32-bit elements a pair is two columns.
  const dim4 pairs = {(args->c + 1) / 2, args->out_c, args->kernel_h, args->kernel_w};
  const dim4 words = {pairs.n, pairs.c, pairs.h, 2 * pairs.w}, values = {1, args->out_c, 1, 1};
  dim4 word_stride, value_stride;
  weights_t weights;
  okk_compact_stride(&weights.kernel_stride, 0, &pairs);
  okk_compact_stride(&word_stride, 0, &words);
  okk_compact_stride(&value_stride, 0, &values);
  weights.weight = 0;
  weights.bias = (unsigned)(words.n * word_stride.n) * sizeof(float);
  okk_gdma_32bit_cpy_S2L(weights.weight, args->weight, &words, &word_stride, NULL);
  okk_gdma_32bit_cpy_S2L(weights.bias, args->bias, &values, &value_stride, NULL);

  const local_addr_t end = weights.bias + (unsigned)value_stride.n * sizeof(float);
  run_tiles(&win, args->output, args->input, (end + 127) / 128 * 128, conv_tile, &weights);
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(conv2d);
