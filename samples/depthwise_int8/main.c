// Depthwise convolution, requantisation, ReLU and pooling of (2, 80, 30, 33), compared with 64-bit arithmetic.
#include "../common/host.h"
#include "args.h"

enum { N = 2, C = 80, H = 30, W = 33, IN_ZERO = -7 };

static signed char in[N][C][H][W], weights[C][3][3];
static unsigned char out[N][C][H / 2][W / 2];
static int bias[C], requant[C][3];  // multiplier, shift, offset
static int records[C][2];           // the same, as later chips than BM1684X have them

static int convolved(int n, int c, int y, int x) {
  long long sum = bias[c];
  // The zero point is not subtracted here: the host has put minus zero point times the sum of the weights into the
  // bias.
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int row = y + i - 1, column = x + j - 1;
      const int inside = row >= 0 && row < H && column >= 0 && column < W;
      sum += (inside ? in[n][c][row][column] : IN_ZERO) * weights[c][i][j];
    }
  }
  const int right = -requant[c][1];
  const long long value = ((sum * requant[c][0] + (1ll << (right - 1))) >> right) + requant[c][2];
  return value < 0 ? 0 : value > 255 ? 255 : (int)value;
}

static int expected(int n, int c, int y, int x) {
  int best = 0;
  for (int i = 0; i < 4; ++i) {
    const int value = convolved(n, c, 2 * y + i / 2, 2 * x + i % 2);
    best = value > best ? value : best;
  }
  return best;
}

int main(int argc, char** argv) {
  for (int i = 0; i < (int)sizeof in; ++i) ((signed char*)in)[i] = (signed char)random_int(-128, 127);
  for (int c = 0; c < C; ++c) {
    bias[c] = random_int(-2000, 2000);
    for (int i = 0; i < 9; ++i) {
      weights[c][i / 3][i % 3] = (signed char)random_int(-128, 127);
      bias[c] -= IN_ZERO * weights[c][i / 3][i % 3];
    }
    requant[c][0] = random_int(1 << 29, 0x7fffffff);
    requant[c][1] = -random_int(36, 38);
  }
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  const int words = chip_id() == BM1684X ? 3 : 2;
  for (int c = 0; c < C && words == 2; ++c) {
    records[c][0] = requant[c][0];
    records[c][1] = (requant[c][1] & 0xff) | requant[c][2] << 16;
  }
  const depthwise_int8_args_t args = {allocate(sizeof out),
                                      upload(in, sizeof in),
                                      upload(weights, sizeof weights),
                                      upload(bias, sizeof bias),
                                      words == 3 ? upload(requant, sizeof requant) : upload(records, sizeof records),
                                      N,
                                      C,
                                      H,
                                      W,
                                      IN_ZERO,
                                      words};
  launch("depthwise_int8", &args, sizeof args);
  download(out, args.out, sizeof out);

  int wrong = 0, zeros = 0;
  for (int n = 0; n < N; ++n)
    for (int c = 0; c < C; ++c)
      for (int i = 0; i < (H / 2) * (W / 2); ++i) {
        const int y = i / (W / 2), x = i % (W / 2);
        wrong += out[n][c][y][x] != expected(n, c, y, x);
        zeros += out[n][c][y][x] == 0;
      }
  printf("%d results, %d wrong, %d stopped by the ReLU\n", (int)sizeof out, wrong, zeros);

  release(args.out, sizeof out), release(args.in, sizeof in), release(args.weights, sizeof weights);
  release(args.bias, sizeof bias), release(args.requant, words == 3 ? sizeof requant : sizeof records);
  close_device();
  return wrong == 0 ? 0 : 1;
}
