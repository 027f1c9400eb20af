// Softmax of each row, tile by tile. Three macros choose the variant.
//
// ROWS is the number of rows in a tile. A row is one channel, so the NPUs work on different rows.
//
// BUFFERS is 1 when a tile is loaded, computed and stored before the next one. With 2 buffers, the next tile is loaded
// and the last one stored meanwhile.
//
// NORMALISE 0 divides every element by the sum of its row, 1 multiplies it by the reciprocal of the sum. 2 is as 1, but
// the largest element is not subtracted first, which is right for small numbers only.
#include <tpu_kernel.h>

typedef struct {
  unsigned long long out, in;  // rows x columns of fp32
  int rows, columns;
} softmax_args_t;

typedef struct {
  local_addr_t x[2], y[2], work0, work1, per_row, coeff, table;
  dim4 shape, one_per_row, repeat;
} tile_t;

static tile_t plan(int columns) {
  const dim4 shape = {1, ROWS, 1, columns}, one_per_row = {1, ROWS, 1, 1};
  const int channels = tpu_channle_num_per_npu(0, ROWS);
  const local_addr_t tensor = (local_addr_t)(channels * tpu_aligned_feature_size(1, columns, DT_FP32));
  const local_addr_t small = (local_addr_t)(channels * tpu_aligned_feature_size(1, 1, DT_FP32));
  tile_t tile = {.shape = shape, .one_per_row = one_per_row};
  for (int i = 0; i < 2; ++i) {
    tile.x[i] = (local_addr_t)(2 * i) * tensor;
    tile.y[i] = (local_addr_t)(2 * i + 1) * tensor;
  }
  tile.work0 = 4 * tensor;
  tile.work1 = 5 * tensor;
  tile.per_row = 6 * tensor;
  tile.coeff = tile.per_row + small;
  tile.table = tile.coeff + 256;
  TPUKERNEL_ASSERT(tile.table + 1024 <= (local_addr_t)tpu_local_mem_size_per_npu());
  // One number per row for every element of the row: W stride 0.
  tpu_aligned_stride(&tile.repeat, 0, &one_per_row, DT_FP32);
  tile.repeat.h = tile.repeat.w = 0;
  return tile;
}

static void compute(const tile_t* tile, int i) {
  const dim2 row = {1, tile->shape.w}, one = {1, 1};
  const padding_t none = {0, 0, 0, 0};
  const local_addr_t x = tile->x[i % 2], y = tile->y[i % 2];
  if (NORMALISE != 2) {
    tpu_bdc_fp_max_pool2d(tile->per_row, x, &tile->shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 0});
    tpu_bdc_fp_sub(x, x, tile->per_row, &tile->shape, NULL, NULL, &tile->repeat, DT_FP32);
  }
  tpu_bdc_fp32_exp(y, x, tile->work0, tile->work1, tile->coeff, tile->table, &tile->shape);
  tpu_bdc_fp_avg_pool2d(tile->per_row, y, &tile->shape, &row, &none, &one, &one, DT_FP32, (scalar_t){.f32 = 1});
  if (NORMALISE == 0) {
    tpu_bdc_fp_div(y, y, tile->per_row, &tile->shape, NULL, NULL, &tile->repeat, DT_FP32);
  } else {
    tpu_bdc_fp32_reciprocal(tile->per_row, tile->per_row, &tile->one_per_row, NULL, NULL);
    tpu_bdc_fp_mul(y, y, tile->per_row, &tile->shape, NULL, NULL, &tile->repeat, DT_FP32);
  }
}

void softmax(const void* raw) {
  const softmax_args_t* args = raw;
  const unsigned long long bytes = 4ULL * ROWS * (unsigned long long)args->columns;
  const int tiles = args->rows / ROWS;
  TPUKERNEL_ASSERT(args->rows > 0 && args->columns > 0 && args->rows % ROWS == 0);
  tpu_initialize();
  const tile_t tile = plan(args->columns);
  tpu_bdc_load_fp32_exp_coeff(tile.coeff);
  tpu_bdc_load_fp32_exp_table(tile.table);
  // Step i loads tile i, computes the one before it and stores the one before that; with one buffer, all of it of one
  // tile.
  const int late = BUFFERS == 2 ? 1 : 0;
  for (int i = 0; i < tiles + 2 * late; ++i) {
    if (BUFFERS == 2) tpu_parallel_start();
    if (i < tiles)
      tpu_gdma_cpy_S2L(tile.x[i % 2], args->in + (unsigned long long)i * bytes, &tile.shape, NULL, NULL, DT_FP32);
    if (i >= late && i - late < tiles) compute(&tile, i - late);
    if (i >= 2 * late)
      tpu_gdma_cpy_L2S(args->out + (unsigned long long)(i - 2 * late) * bytes, tile.y[(i - 2 * late) % 2], &tile.shape,
                       NULL, NULL, DT_FP32);
    if (BUFFERS == 2) tpu_parallel_end();
  }
  tpu_poll();
}
TPUKERNEL_FUNC_REGISTER(softmax)
