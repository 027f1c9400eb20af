// A 3 x 3 convolution with bias and relu in fp16, compared with double precision. Weights are reordered as the chip
// wants them (32IC on BM1684X) and merged with the bias on the host.
#include <softtpu/layout.h>

#include "../common/chip_host.h"
#include "../half.h"
#include "args.h"

enum { N = 2, IC = 40, H = 14, W = 14, OC = 80 };

static half_t in[N][IC][H][W], weights[OC][IC][3][3], out[N][OC][H][W];
static float bias[OC];

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

int main(int argc, char** argv) {
  for (size_t i = 0; i < sizeof in / sizeof(half_t); ++i) ((half_t*)in)[i] = to_half(random_float());
  for (size_t i = 0; i < sizeof weights / sizeof(half_t); ++i) ((half_t*)weights)[i] = to_half(0.1f * random_float());
  for (int i = 0; i < OC; ++i) bias[i] = random_float();
  open_device(argc > 1 ? argv[1] : NULL);

  const chip_t chip = describe_chip();
  const softtpu_conv_block_t block = {.npu_num = chip.npu_num,
                                      .eu_bytes = chip.eu_bytes,
                                      .oc = OC,
                                      .ic = IC,
                                      .kh = 3,
                                      .kw = 3,
                                      .ic_pack = chip.ic_parallel,
                                      .element_bytes = sizeof(half_t),
                                      .bias_bytes = sizeof(float)};
  const size_t block_bytes = softtpu_conv_block_bytes(&block);
  void* merged = malloc(block_bytes);
  if (merged == NULL ||
      softtpu_conv_merge(&block, weights, sizeof weights, bias, sizeof bias, merged, block_bytes) != 0)
    fail(softtpu_layout_error());
  const conv_args_t args = {allocate(sizeof out),
                            upload(in, sizeof in),
                            upload(merged, block_bytes),
                            N,
                            IC,
                            H,
                            W,
                            OC,
                            (int)softtpu_conv_block_lanes(&block),
                            (int)softtpu_conv_block_lane_bytes(&block),
                            (int)softtpu_conv_block_weight_offset(&block)};
  launch("conv", &args, sizeof args);
  download(out, args.out, sizeof out);

  double worst = 0;
  for (int n = 0; n < N; ++n) {
    for (int oc = 0; oc < OC; ++oc) {
      for (int h = 0; h < H; ++h) {
        for (int w = 0; w < W; ++w)
          worst = larger_difference(worst, fabs(expected(n, oc, h, w) - from_half(out[n][oc][h][w])));
      }
    }
  }
  printf("weights and bias in one block of %zu bytes; largest difference from double precision: %.2g\n", block_bytes,
         worst);

  release(args.out, sizeof out), release(args.in, sizeof in), release(args.block, block_bytes);
  close_device();
  free(merged);
  return worst < 0.01 ? 0 : 1;
}
