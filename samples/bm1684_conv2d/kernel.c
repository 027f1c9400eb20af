// A convolution in fp32: weights in 2IC mode stay in local memory, as many output channels at a time as leave room for
// the feature maps, which pass through in tiles of output rows.
#include "../bm1684_common/row_tiles.h"
#include "args.h"

typedef struct {
  local_addr_t weight, bias;
  dim4 kernel_stride;  // in pairs
} weights_t;

static void conv_tile(const window_t* win, const tile_t* tile, local_addr_t output, local_addr_t input,
                      const void* context) {
  const weights_t* weights = context;
  const dim4 shape = input_shape(win, tile);
  const dim2 stride = {win->stride, win->stride}, dilation = {win->dilation, win->dilation};
  okk_bdc_conv2d(output, input, weights->weight, weights->bias, &shape, win->out_c, win->kernel_h, win->kernel_w, NULL,
                 &weights->kernel_stride, true, false, &tile->padding, &stride, &dilation);
}

// Weights and bias of `count` output channels from `first` on; returns where free memory begins.
static local_addr_t load_weights(const conv_args_t* args, int first, int count, weights_t* weights) {
  // As 32-bit elements a pair is two columns.
  const dim4 pairs = {(args->c + 1) / 2, count, args->kernel_h, args->kernel_w};
  const dim4 words = {pairs.n, pairs.c, pairs.h, 2 * pairs.w}, values = {1, count, 1, 1};
  const int taps = words.h * words.w;
  const dim4 from = {args->out_c * taps, taps, words.w, 1};
  dim4 word_stride, value_stride;
  okk_compact_stride(&weights->kernel_stride, 0, &pairs);
  okk_compact_stride(&word_stride, 0, &words);
  okk_compact_stride(&value_stride, 0, &values);
  weights->weight = 0;
  weights->bias = (unsigned)(words.n * word_stride.n) * sizeof(float);
  okk_gdma_32bit_cpy_S2L(weights->weight, args->weight + (unsigned)(first * taps) * sizeof(float), &words, &word_stride,
                         &from);
  okk_gdma_32bit_cpy_S2L(weights->bias, args->bias + (unsigned)first * sizeof(float), &values, &value_stride, NULL);
  const local_addr_t end = weights->bias + (unsigned)value_stride.n * sizeof(float);
  return (end + 127) / 128 * 128;
}

// Output channels whose weights take 3/8 of local memory: one on each NPU, or a multiple of that.
static int channels_at_once(const conv_args_t* args) {
  const unsigned channel = (unsigned)((args->c + 1) / 2 * args->kernel_h * args->kernel_w) * 2 * sizeof(float);
  const unsigned per_npu = okk_local_mem_size_per_npu() / 8 * 3 / channel;
  OKKERNEL_ASSERT(per_npu > 0);
  return (int)per_npu * okk_npu_num();
}

void conv2d(const void* raw) {
  const conv_args_t* args = raw;
  window_t win = {args->n,        args->c,   args->h,      args->w,        args->out_c, args->kernel_h,
                  args->kernel_w, args->pad, args->stride, args->dilation, args->out_c};
  OKKERNEL_ASSERT(out_h(&win) > 0 && out_w(&win) > 0);
  okk_initialize();
  const int step = channels_at_once(args);
  const unsigned plane = (unsigned)(out_h(&win) * out_w(&win));
  for (int first = 0; first < args->out_c; first += step) {
    weights_t weights;
    win.out_c = args->out_c - first < step ? args->out_c - first : step;
    const local_addr_t end = load_weights(args, first, win.out_c, &weights);
    run_tiles(&win, args->output + (address_t)plane * (unsigned)first * sizeof(float), args->input, end, conv_tile,
              &weights);
  }
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(conv2d);
