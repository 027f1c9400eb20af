// Multiplies two matrices on the device and compares with the product in double precision.
#include <bmlib_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"

enum { M = 300, K = 500, N = 200 };

static float left[M * K], right[K * N], bias[N], out[M * N];

static void fill(float* numbers, int count, unsigned seed) {
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    numbers[i] = (float)(seed >> 8) / (float)(1 << 23) - 1.0f;
  }
}

static bm_device_mem_t upload(bm_handle_t handle, const void* data, unsigned bytes) {
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, bytes) != BM_SUCCESS ||
      bm_memcpy_s2d(handle, memory, (void*)data) != BM_SUCCESS) {
    fprintf(stderr, "no device memory\n");
    exit(1);
  }
  return memory;
}

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  fill(left, M * K, 1);
  fill(right, K * N, 2);
  fill(bias, N, 3);
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  const bm_device_mem_t memory[4] = {upload(handle, out, sizeof out), upload(handle, left, sizeof left),
                                     upload(handle, right, sizeof right), upload(handle, bias, sizeof bias)};
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  if (module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  tpu_kernel_function_t matmul = tpu_kernel_get_function(handle, module, "matmul");
  matmul_args_t args = {bm_mem_get_device_addr(memory[0]),
                        bm_mem_get_device_addr(memory[1]),
                        bm_mem_get_device_addr(memory[2]),
                        bm_mem_get_device_addr(memory[3]),
                        M,
                        K,
                        N};
  if (tpu_kernel_launch(handle, matmul, &args, sizeof args) != BM_SUCCESS)
    return fprintf(stderr, "the launch failed\n"), 1;
  if (bm_memcpy_d2s(handle, out, memory[0]) != BM_SUCCESS) return 1;

  double worst = 0;
  for (int row = 0; row < M; ++row) {
    for (int col = 0; col < N; ++col) {
      double sum = bias[col];
      for (int i = 0; i < K; ++i) sum += (double)left[row * K + i] * right[i * N + col];
      const double difference = fabs(sum - out[row * N + col]);
      worst = fmax(worst, isnan(difference) ? INFINITY : difference);
    }
  }
  printf("%d x %d x %d, largest difference from double precision: %.2g\n", M, K, N, worst);

  tpu_kernel_free_module(handle, module);
  for (int i = 0; i < 4; ++i) bm_free_device(handle, memory[i]);
  bm_dev_free(handle);
  return worst < 1e-4 ? 0 : 1;
}
