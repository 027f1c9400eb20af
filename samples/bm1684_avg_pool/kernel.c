// Average pooling in fp32: the feature maps pass through local memory in tiles of output rows.
#include "../bm1684_common/row_tiles.h"
#include "args.h"

static void pool_tile(const window_t* win, const tile_t* tile, local_addr_t output, local_addr_t input,
                      const void* context) {
  (void)context;
  const dim4 shape = input_shape(win, tile);
  const dim2 stride = {win->stride, win->stride};
  okk_bdc_avg_pool2d(output, input, &shape, win->kernel_h, win->kernel_w, &tile->padding, &stride);
}

void avg_pool(const void* raw) {
  const pool_args_t* args = raw;
  const window_t win = {args->n,        args->c,   args->h,      args->w, args->c, args->kernel_h,
                        args->kernel_w, args->pad, args->stride, 1,       0};
  OKKERNEL_ASSERT(out_h(&win) > 0 && out_w(&win) > 0);
  okk_initialize();
  run_tiles(&win, args->output, args->input, 0, pool_tile, NULL);
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(avg_pool);
