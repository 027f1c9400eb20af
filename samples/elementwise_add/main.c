// Adds two arrays of 16 million numbers (64 MiB each; the local memories together have 16 MiB) and checks every sum.
#include <bmlib_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "args.h"

#define COUNT (16u * 1024 * 1024 + 640) /* not a whole number of pieces */

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  const size_t bytes = COUNT * sizeof(float);
  float* host[3] = {malloc(bytes), malloc(bytes), malloc(bytes)};  // out, a, b
  bm_device_mem_t device[3];
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  for (int i = 0; i < 3; ++i) {
    if (host[i] == NULL || bm_malloc_device_byte(handle, &device[i], (unsigned)bytes) != BM_SUCCESS) {
      return fprintf(stderr, "no memory\n"), 1;
    }
  }
  for (unsigned i = 0; i < COUNT; ++i) {
    host[1][i] = (float)(i % 1000) * 0.25f;
    host[2][i] = (float)(i / 1000);
  }
  if (bm_memcpy_s2d(handle, device[1], host[1]) != BM_SUCCESS ||
      bm_memcpy_s2d(handle, device[2], host[2]) != BM_SUCCESS)
    return 1;

  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  if (module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  tpu_kernel_function_t add = tpu_kernel_get_function(handle, module, "add");
  add_args_t args = {bm_mem_get_device_addr(device[0]), bm_mem_get_device_addr(device[1]),
                     bm_mem_get_device_addr(device[2]), COUNT};
  const double start = now();
  if (tpu_kernel_launch(handle, add, &args, sizeof args) != BM_SUCCESS)
    return fprintf(stderr, "the launch failed\n"), 1;
  const double seconds = now() - start;
  if (bm_memcpy_d2s(handle, host[0], device[0]) != BM_SUCCESS) return 1;

  unsigned wrong = 0;
  for (unsigned i = 0; i < COUNT; ++i) wrong += host[0][i] != host[1][i] + host[2][i];
  printf("%u sums, %u wrong, %.1f ms, %.2f GB/s moved\n", COUNT, wrong, seconds * 1e3,
         3.0 * (double)bytes / seconds * 1e-9);

  tpu_kernel_free_module(handle, module);
  for (int i = 0; i < 3; ++i) {
    bm_free_device(handle, device[i]);
    free(host[i]);
  }
  bm_dev_free(handle);
  return wrong == 0 ? 0 : 1;
}
