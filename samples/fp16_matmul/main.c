// A 140 x 600 matrix times a 600 x 300 matrix in fp16, compared bit for bit with the documented way of summing.
#include "../common/chip_host.h"
#include "../half.h"
#include "args.h"

enum { M = 140, K = 600, N = 300 };

static half_t left[M * K], right[K * N], out[M * N];

// `count` products, at most 32, the largest group of any chip: each is cut to a multiple of 2^-24 of the largest one's
// power of two, the sum is exact (docs/numerics/bm1684x-matmul-conv-pool.md, section 1). Products of fp16 are exact in
// fp32.
static float group_sum(const float* products, int count) {
  int top = -1000, exponent[32];
  for (int i = 0; i < count; ++i) {
    frexpf(products[i], &exponent[i]);
    if (products[i] != 0 && exponent[i] > top) top = exponent[i];
  }
  double sum = 0;  // of whole numbers below 2^25: exact
  for (int i = 0; i < count; ++i) sum += trunc(ldexp(products[i], 25 - top));
  return (float)ldexp(sum, top - 25);
}

static half_t expected(int row, int column, int group) {
  float sum = 0;
  for (int first = 0; first < K; first += group) {
    float products[32];
    int count = 0;
    for (int k = first; k < K && count < group; ++k)
      products[count++] = from_half(left[row * K + k]) * from_half(right[k * N + column]);
    sum += group_sum(products, count);
  }
  return chip_id() == BM1684X2 ? to_flushed_half(sum) : to_half(sum);
}

int main(int argc, char** argv) {
  for (int i = 0; i < M * K; ++i) left[i] = to_flushed_half(random_float());
  for (int i = 0; i < K * N; ++i) right[i] = to_flushed_half(random_float());
  open_device(argc > 1 ? argv[1] : NULL);
  const int group = describe_chip().ic_parallel;
  const fp16_matmul_args_t args = {
      allocate(sizeof out), upload(left, sizeof left), upload(right, sizeof right), M, K, N};
  launch("fp16_matmul", &args, sizeof args);
  download(out, args.out, sizeof out);

  int wrong = 0;
  for (int i = 0; i < M * N; ++i) wrong += out[i] != expected(i / N, i % N, group);
  printf("%d x %d x %d: %d of %d results differ from the documented sum of groups of %d\n", M, K, N, wrong, M * N,
         group);

  release(args.out, sizeof out), release(args.left, sizeof left), release(args.right, sizeof right);
  close_device();
  return wrong == 0 ? 0 : 1;
}
