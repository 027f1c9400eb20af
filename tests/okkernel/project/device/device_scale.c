/* output = input * scale + 1, tile by tile, two buffers: while one is computed, the other is loaded and stored. */
#include "okk.h"

typedef struct {
  unsigned long long input_addr, output_addr;
  int elements;
  float scale;
} __attribute__((packed)) scale_param_t;

enum { TILE_W = 1024 };

void scale(const void* args) {
  const scale_param_t* param = (const scale_param_t*)args;
  const int tile = okk_npu_num() * TILE_W;
  const local_addr_t buffer[2] = {0, TILE_W * sizeof(float)};
  okk_initialize();
  OKKERNEL_ASSERT(param->elements % tile == 0);
  const int tiles = param->elements / tile;
  const dim4 shape = {1, okk_npu_num(), 1, TILE_W};
  /* Tile i is loaded in round i, computed in round i + 1 and stored in round i + 1, before its buffer is loaded again.
   */
  for (int round = 0; round <= tiles; ++round) {
    const unsigned long long offset = (unsigned long long)round * (unsigned)tile * sizeof(float);
    okk_parallel_start();
    if (round < tiles) okk_gdma_32bit_cpy_S2L(buffer[round % 2], param->input_addr + offset, &shape, NULL, NULL);
    if (round > 0) {
      const local_addr_t ready = buffer[(round - 1) % 2];
      okk_bdc_mul_C(ready, ready, param->scale, &shape, NULL, NULL);
      okk_bdc_add_C(ready, ready, 1.f, &shape, NULL, NULL);
    }
    okk_parallel_end();
    if (round > 0) {
      okk_gdma_32bit_cpy_L2S(param->output_addr + offset - tile * sizeof(float), buffer[(round - 1) % 2], &shape, NULL,
                             NULL);
    }
  }
  okk_poll();
}
OKKERNEL_FUNC_REGISTER(scale);
