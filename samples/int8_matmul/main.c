// A layer of 700 inputs and 100 outputs on 300 rows, in 8 bits, compared with integers of 64 bits.
#include "../common/host.h"
#include "args.h"

enum { ROWS = 300, INPUTS = 700, OUTPUTS = 100, IN_ZERO = 3, OUT_ZERO = 120 };

static signed char in[ROWS * INPUTS], weights[OUTPUTS * INPUTS];
static unsigned char out[ROWS * OUTPUTS];
static int bias[OUTPUTS], requant[OUTPUTS][3];  // multiplier, shift, offset
static int records[OUTPUTS][2];                 // the same, as later chips than BM1684X have them

static int expected(int row, int output) {
  long long sum = bias[output];
  for (int k = 0; k < INPUTS; ++k) sum += (in[row * INPUTS + k] - IN_ZERO) * weights[output * INPUTS + k];
  const int right = -requant[output][1];
  const long long scaled = (sum * requant[output][0] + (1ll << (right - 1))) >> right;  // halves are rounded up
  const long long value = scaled + requant[output][2];
  return value < 0 ? 0 : value > 255 ? 255 : (int)value;
}

int main(int argc, char** argv) {
  for (int i = 0; i < ROWS * INPUTS; ++i) in[i] = (signed char)random_int(-128, 127);
  for (int i = 0; i < OUTPUTS * INPUTS; ++i) weights[i] = (signed char)random_int(-128, 127);
  for (int i = 0; i < OUTPUTS; ++i) {
    // A scale is multiplier * 2^shift; here between 0.0002 and 0.0008, about what this many inputs need.
    bias[i] = random_int(-100000, 100000);
    requant[i][0] = random_int(1 << 29, 0x7fffffff);
    requant[i][1] = -41 + random_int(0, 1);
    requant[i][2] = OUT_ZERO;
    records[i][0] = requant[i][0];
    records[i][1] = (requant[i][1] & 0xff) | OUT_ZERO << 16;
  }
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  const int words = chip_id() == BM1684X ? 3 : 2;
  const int8_matmul_args_t args = {allocate(sizeof out),
                                   upload(in, sizeof in),
                                   upload(weights, sizeof weights),
                                   upload(bias, sizeof bias),
                                   words == 3 ? upload(requant, sizeof requant) : upload(records, sizeof records),
                                   ROWS,
                                   INPUTS,
                                   OUTPUTS,
                                   IN_ZERO,
                                   words};
  launch("int8_matmul", &args, sizeof args);
  download(out, args.out, sizeof out);

  int wrong = 0, clamped = 0;
  for (int i = 0; i < ROWS * OUTPUTS; ++i) {
    wrong += out[i] != expected(i / OUTPUTS, i % OUTPUTS);
    clamped += out[i] == 0 || out[i] == 255;
  }
  printf("%d results, %d wrong, %d at a limit of uint8\n", ROWS * OUTPUTS, wrong, clamped);

  release(args.out, sizeof out), release(args.in, sizeof in), release(args.weights, sizeof weights);
  release(args.bias, sizeof bias), release(args.requant, words == 3 ? sizeof requant : sizeof records);
  close_device();
  return wrong == 0 ? 0 : 1;
}
