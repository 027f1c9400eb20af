// Products of several sizes on the device, compared with double precision.
#include "../bm1684_common/host.h"
#include "args.h"

static const struct {
  int m, k, n;
} kCases[] = {{1, 1, 1}, {2, 3, 5}, {7, 33, 66}, {300, 500, 200}, {257, 1025, 33}, {64, 700, 2100}};

int main(int argc, char** argv) {
  open_device(argc > 1 ? argv[1] : KERNEL_MODULE);
  double worst = 0;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    const int m = kCases[i].m, k = kCases[i].k, n = kCases[i].n;
    float* left = numbers((size_t)m * (size_t)k, 1);
    float* right = numbers((size_t)k * (size_t)n, 2);
    double* want = calloc((size_t)m * (size_t)n, sizeof *want);
    for (int row = 0; row < m; ++row)
      for (int inner = 0; inner < k; ++inner)
        for (int col = 0; col < n; ++col) want[row * n + col] += (double)left[row * k + inner] * right[inner * n + col];
    bm_device_mem_t memory[3] = {device_memory((size_t)m * (size_t)n), upload(left, (size_t)m * (size_t)k),
                                 upload(right, (size_t)k * (size_t)n)};
    const matmul_args_t args = {bm_mem_get_device_addr(memory[0]),
                                bm_mem_get_device_addr(memory[1]),
                                bm_mem_get_device_addr(memory[2]),
                                m,
                                k,
                                n};
    launch("matmul", &args, sizeof args);
    const double difference = compare(memory[0], want, (size_t)m * (size_t)n);
    printf("%4d x %4d x %4d: largest difference %.1e\n", m, k, n, difference);
    if (!(difference <= worst)) worst = difference;
    for (int j = 0; j < 3; ++j) bm_free_device(handle, memory[j]);
    free(left), free(right), free(want);
  }
  bm_dev_free(handle);
  return worst < 1e-5 ? 0 : 1;
}
