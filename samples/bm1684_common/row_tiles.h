// Windows that move over feature maps, cut into tiles of output rows: what conv2d, depthwise and avg_pool share.
#ifndef BM1684_ROW_TILES_H
#define BM1684_ROW_TILES_H

#include <okk.h>

typedef unsigned long long address_t;

typedef struct {
  int n, c, h, w;  // input
  int out_c;
  int kernel_h, kernel_w;
  int pad;  // on all four sides
  int stride, dilation;
  int all_out_c;  // channels of the whole output when these are only some of them; 0: out_c
} window_t;

static int out_extent(int extent, int kernel, const window_t* win) {
  return (extent + 2 * win->pad - ((kernel - 1) * win->dilation + 1)) / win->stride + 1;
}
static int out_h(const window_t* win) { return out_extent(win->h, win->kernel_h, win); }
static int out_w(const window_t* win) { return out_extent(win->w, win->kernel_w, win); }

// One tile: output rows [out_row, out_row + out_rows) of batch n, and the input rows they need without the padding.
typedef struct {
  int n, out_row, out_rows;
  int in_row, in_rows;
  Padding padding;
} tile_t;

// Rows under the windows of so many output rows, padding included.
static int input_rows(const window_t* win, int out_rows) {
  return (out_rows - 1) * win->stride + (win->kernel_h - 1) * win->dilation + 1;
}
// What a tile holds of them at most.
static int stored_rows(const window_t* win, int out_rows) {
  const int rows = input_rows(win, out_rows);
  return rows < win->h ? rows : win->h;
}

static tile_t tile_at(const window_t* win, int index, int rows_per_tile) {
  const int tiles = (out_h(win) + rows_per_tile - 1) / rows_per_tile;
  tile_t tile;
  tile.n = index / tiles;
  tile.out_row = index % tiles * rows_per_tile;
  tile.out_rows = out_h(win) - tile.out_row < rows_per_tile ? out_h(win) - tile.out_row : rows_per_tile;
  const int first = tile.out_row * win->stride - win->pad;
  const int last = first + input_rows(win, tile.out_rows);
  tile.in_row = first > 0 ? first : 0;
  tile.in_rows = (last < win->h ? last : win->h) - tile.in_row;
  tile.padding.top = first < 0 ? -first : 0;
  tile.padding.bottom = last > win->h ? last - win->h : 0;
  tile.padding.left = tile.padding.right = win->pad;
  return tile;
}

static dim4 input_shape(const window_t* win, const tile_t* tile) {
  dim4 shape = {1, win->c, tile->in_rows, win->w};
  return shape;
}

// Bytes of every NPU that a tensor [1, c, h, w] takes in the aligned layout.
static unsigned aligned_bytes(int c, int h, int w) {
  const dim4 shape = {1, c, h, w};
  dim4 stride;
  okk_128_byte_aligned_stride_for_32bit(&stride, 0, &shape);
  return (unsigned)stride.n * sizeof(float);
}

// The most rows for a tile so that two input and two output tiles fit into `bytes`, at most a quarter of the rows: with
// fewer tiles there is little that could overlap.
static int rows_that_fit(const window_t* win, unsigned bytes) {
  for (int rows = (out_h(win) + 3) / 4; rows > 1; rows = (rows + 1) / 2) {
    if (2 * aligned_bytes(win->c, stored_rows(win, rows), win->w) + 2 * aligned_bytes(win->out_c, rows, out_w(win)) <=
        bytes)
      return rows;
  }
  return 1;
}

static void load_tile(local_addr_t to, address_t input, const window_t* win, const tile_t* tile) {
  const dim4 shape = input_shape(win, tile);
  const dim4 stride = {win->c * win->h * win->w, win->h * win->w, win->w, 1};
  const address_t first = (address_t)tile->n * (unsigned)stride.n + (unsigned)(tile->in_row * win->w);
  okk_gdma_32bit_cpy_S2L(to, input + first * sizeof(float), &shape, NULL, &stride);
}

static void store_tile(address_t output, local_addr_t from, const window_t* win, const tile_t* tile) {
  const dim4 shape = {1, win->out_c, tile->out_rows, out_w(win)};
  const int plane = out_h(win) * out_w(win);
  const dim4 stride = {(win->all_out_c != 0 ? win->all_out_c : win->out_c) * plane, plane, out_w(win), 1};
  const address_t first = (address_t)tile->n * (unsigned)stride.n + (unsigned)(tile->out_row * out_w(win));
  okk_gdma_32bit_cpy_L2S(output + first * sizeof(float), from, &shape, &stride, NULL);
}

// Computes one tile from `input` to `output` (local addresses).
typedef void (*compute_t)(const window_t* win, const tile_t* tile, local_addr_t output, local_addr_t input,
                          const void* context);

// All tiles in a pipeline of three steps, each round a parallel section: tile i is loaded while tile i - 1 is computed
// and tile i - 2 is stored. `local`: where the tiles' memory begins.
static void run_tiles(const window_t* win, address_t output, address_t input, local_addr_t local, compute_t compute,
                      const void* context) {
  const int rows = rows_that_fit(win, okk_local_mem_size_per_npu() - local);
  const unsigned in_bytes = aligned_bytes(win->c, stored_rows(win, rows), win->w);
  const unsigned out_bytes = aligned_bytes(win->out_c, rows, out_w(win));
  const local_addr_t in[2] = {local, local + in_bytes};
  const local_addr_t out[2] = {local + 2 * in_bytes, local + 2 * in_bytes + out_bytes};
  OKKERNEL_ASSERT(out[1] + out_bytes <= okk_local_mem_size_per_npu());
  const int tiles = win->n * ((out_h(win) + rows - 1) / rows);
  for (int i = 0; i < tiles + 2; ++i) {
    okk_parallel_start();
    if (i < tiles) {
      const tile_t tile = tile_at(win, i, rows);
      OKKERNEL_ASSERT(tile.in_rows > 0);
      load_tile(in[i % 2], input, win, &tile);
    }
    if (i >= 1 && i <= tiles) {
      const tile_t tile = tile_at(win, i - 1, rows);
      compute(win, &tile, out[(i - 1) % 2], in[(i - 1) % 2], context);
    }
    if (i >= 2) {
      const tile_t tile = tile_at(win, i - 2, rows);
      store_tile(output, out[i % 2], win, &tile);
    }
    okk_parallel_end();
  }
}

#endif
