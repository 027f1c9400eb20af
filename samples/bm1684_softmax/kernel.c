// Softmax over the channels in fp32. GDMA transposes the tensor while it loads: a pixel becomes a channel of local
// memory and holds its C values side by side, so that maximum and sum stay inside one NPU. Pixels pass through in
// tiles; while one is computed, the next is loaded and the last is stored.
#include <okk.h>

#include "args.h"

typedef struct {
  int n, pixel, pixels;
} tile_t;

static tile_t tile_at(const softmax_args_t* args, int index, int most) {
  const int tiles = (args->pixels + most - 1) / most;
  tile_t tile = {index / tiles, index % tiles * most, most};
  if (tile.pixels > args->pixels - tile.pixel) tile.pixels = args->pixels - tile.pixel;
  return tile;
}

static unsigned long long offset_of(const softmax_args_t* args, const tile_t* tile) {
  return ((unsigned long long)tile->n * (unsigned)(args->c * args->pixels) + (unsigned)tile->pixel) * sizeof(float);
}

// x: [1, pixels, 1, C], in place. exp: the exponentials; work: for okk_bdc_exp; value: one number per pixel.
static void softmax_tile(local_addr_t x, local_addr_t exp, local_addr_t work, local_addr_t value, int pixels, int c) {
  const dim4 shape = {1, pixels, 1, c}, values = {1, pixels, 1, 1};
  dim4 broadcast;
  okk_128_byte_aligned_stride_for_32bit(&broadcast, 0, &values);
  broadcast.w = 0;
  okk_bdc_max_pool2d(value, x, &shape, 1, c, NULL, NULL);
  okk_bdc_sub(x, x, value, &shape, NULL, NULL, &broadcast);
  okk_bdc_max_C(x, x, -100.f, &shape, NULL, NULL); /* e^-100 is as good as 0; the chip's exp ends at -103 */
  okk_bdc_exp(exp, x, work, &shape);
  okk_bdc_avg_pool2d(value, exp, &shape, 1, c, NULL, NULL);
  okk_bdc_reciprocal(value, value, &values, NULL, NULL);
  okk_bdc_mul_C(value, value, 1.f / (float)c, &values, NULL, NULL);
  okk_bdc_mul(x, exp, value, &shape, NULL, NULL, &broadcast);
}

void softmax(const void* raw) {
  const softmax_args_t* args = raw;
  OKKERNEL_ASSERT(args->n > 0 && args->c > 0 && args->pixels > 0);
  okk_initialize();
  // Bytes that one pixel takes: C values in whole rows of 128 bytes; three tiles, the exponentials and the work tensor.
  const unsigned pixel_bytes = (unsigned)(args->c + 31) / 32 * 128;
  const unsigned most_groups = okk_local_mem_size_per_npu() / (5 * pixel_bytes + 128);
  OKKERNEL_ASSERT(most_groups > 0);
  const int most = (int)(most_groups < 16 ? most_groups : 16) * okk_npu_num();
  const unsigned bytes = (unsigned)(most / okk_npu_num()) * pixel_bytes;
  const local_addr_t x[3] = {0, bytes, 2 * bytes}, exp = 3 * bytes, work = 4 * bytes, value = 5 * bytes;
  const dim4 system_stride = {0, 1, args->pixels, 1};
  const int tiles = args->n * ((args->pixels + most - 1) / most);
  for (int i = 0; i < tiles + 2; ++i) {
    okk_parallel_start();
    if (i < tiles) {
      const tile_t tile = tile_at(args, i, most);
      const dim4 shape = {1, tile.pixels, args->c, 1};
      okk_gdma_32bit_cpy_S2L(x[i % 3], args->input + offset_of(args, &tile), &shape, NULL, &system_stride);
    }
    if (i >= 1 && i <= tiles) {
      const tile_t tile = tile_at(args, i - 1, most);
      softmax_tile(x[(i - 1) % 3], exp, work, value, tile.pixels, args->c);
    }
    if (i >= 2) {
      const tile_t tile = tile_at(args, i - 2, most);
      const dim4 shape = {1, tile.pixels, args->c, 1};
      okk_gdma_32bit_cpy_L2S(args->output + offset_of(args, &tile), x[(i - 2) % 3], &shape, &system_stride, NULL);
    }
    okk_parallel_end();
  }
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(softmax);
