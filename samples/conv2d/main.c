// A 3 x 3 convolution with bias and relu in fp16, compared with double precision. Weights are reordered to 32IC and
// merged with the bias on the host.
#include <bmlib_runtime.h>
#include <math.h>
#include <softtpu/layout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../half.h"
#include "args.h"

enum { N = 2, IC = 40, H = 14, W = 14, OC = 80 };

static half_t in[N][IC][H][W], weights[OC][IC][3][3], out[N][OC][H][W];
static float bias[OC];

static float noise(unsigned* seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (float)(*seed >> 8) / (float)(1 << 23) - 1.0f;
}

static double expected(int n, int oc, int h, int w) {
  double sum = bias[oc];
  for (int ic = 0; ic < IC; ++ic) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const int y = h + i - 1, x = w + j - 1;
        if (y >= 0 && y < H && x >= 0 && x < W)
          sum += (double)from_half(in[n][ic][y][x]) * from_half(weights[oc][ic][i][j]);
      }
    }
  }
  return sum > 0 ? sum : 0;
}

static bm_device_mem_t upload(bm_handle_t handle, const void* data, size_t bytes) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, (unsigned)bytes) != BM_SUCCESS ||
      bm_memcpy_s2d(handle, memory, (void*)data) != BM_SUCCESS) {
    fprintf(stderr, "no device memory\n");
    exit(1);
  }
  return memory;
}

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  unsigned seed = 1;
  for (size_t i = 0; i < sizeof in / sizeof(half_t); ++i) ((half_t*)in)[i] = to_half(noise(&seed));
  for (size_t i = 0; i < sizeof weights / sizeof(half_t); ++i) ((half_t*)weights)[i] = to_half(0.1f * noise(&seed));
  for (int i = 0; i < OC; ++i) bias[i] = noise(&seed);

  const softtpu_conv_block_t block = {.npu_num = 64,
                                      .eu_bytes = 64,
                                      .oc = OC,
                                      .ic = IC,
                                      .kh = 3,
                                      .kw = 3,
                                      .ic_pack = SOFTTPU_32IC,
                                      .element_bytes = sizeof(half_t),
                                      .bias_bytes = sizeof(float)};
  const size_t block_bytes = softtpu_conv_block_bytes(&block);
  void* merged = malloc(block_bytes);
  if (merged == NULL ||
      softtpu_conv_merge(&block, weights, sizeof weights, bias, sizeof bias, merged, block_bytes) != 0) {
    return fprintf(stderr, "%s\n", softtpu_layout_error()), 1;
  }

  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  const bm_device_mem_t memory[3] = {upload(handle, out, sizeof out), upload(handle, in, sizeof in),
                                     upload(handle, merged, block_bytes)};
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  if (module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  tpu_kernel_function_t conv = tpu_kernel_get_function(handle, module, "conv");
  conv_args_t args = {bm_mem_get_device_addr(memory[0]),
                      bm_mem_get_device_addr(memory[1]),
                      bm_mem_get_device_addr(memory[2]),
                      N,
                      IC,
                      H,
                      W,
                      OC,
                      (int)softtpu_conv_block_lanes(&block),
                      (int)softtpu_conv_block_lane_bytes(&block),
                      (int)softtpu_conv_block_weight_offset(&block)};
  if (tpu_kernel_launch(handle, conv, &args, sizeof args) != BM_SUCCESS)
    return fprintf(stderr, "the launch failed\n"), 1;
  if (bm_memcpy_d2s(handle, out, memory[0]) != BM_SUCCESS) return 1;

  double worst = 0;
  for (int n = 0; n < N; ++n) {
    for (int oc = 0; oc < OC; ++oc) {
      for (int h = 0; h < H; ++h) {
        for (int w = 0; w < W; ++w) worst = fmax(worst, fabs(expected(n, oc, h, w) - from_half(out[n][oc][h][w])));
      }
    }
  }
  printf("weights and bias in one block of %zu bytes; largest difference from double precision: %.2g\n", block_bytes,
         worst);

  tpu_kernel_free_module(handle, module);
  for (int i = 0; i < 3; ++i) bm_free_device(handle, memory[i]);
  bm_dev_free(handle);
  free(merged);
  return worst < 0.01 ? 0 : 1;
}
