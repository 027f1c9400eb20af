// Softmax of 200 rows of 300 numbers, compared with double precision.
#include <bmlib_runtime.h>
#include <math.h>
#include <stdio.h>

#include "args.h"

enum { ROWS = 200, COLUMNS = 300 };

static float in[ROWS][COLUMNS], out[ROWS][COLUMNS];

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  unsigned seed = 7;
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    seed = seed * 1664525u + 1013904223u;
    in[i / COLUMNS][i % COLUMNS] = (float)(seed >> 8) / (float)(1 << 20) - 8.0f;
  }
  bm_handle_t handle;
  bm_device_mem_t in_memory, out_memory;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  if (bm_malloc_device_byte(handle, &in_memory, sizeof in) != BM_SUCCESS ||
      bm_malloc_device_byte(handle, &out_memory, sizeof out) != BM_SUCCESS ||
      bm_memcpy_s2d(handle, in_memory, in) != BM_SUCCESS) {
    return fprintf(stderr, "no device memory\n"), 1;
  }
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  if (module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  tpu_kernel_function_t softmax = tpu_kernel_get_function(handle, module, "softmax");
  softmax_args_t args = {bm_mem_get_device_addr(out_memory), bm_mem_get_device_addr(in_memory), ROWS, COLUMNS};
  if (tpu_kernel_launch(handle, softmax, &args, sizeof args) != BM_SUCCESS)
    return fprintf(stderr, "the launch failed\n"), 1;
  if (bm_memcpy_d2s(handle, out, out_memory) != BM_SUCCESS) return 1;

  double worst = 0;
  for (int row = 0; row < ROWS; ++row) {
    double largest = in[row][0], sum = 0;
    for (int i = 0; i < COLUMNS; ++i) largest = fmax(largest, in[row][i]);
    for (int i = 0; i < COLUMNS; ++i) sum += exp(in[row][i] - largest);
    for (int i = 0; i < COLUMNS; ++i) {
      const double difference = fabs(exp(in[row][i] - largest) / sum - out[row][i]);
      worst = fmax(worst, isnan(difference) ? INFINITY : difference);
    }
  }
  printf("%d rows of %d, largest difference from double precision: %.2g\n", ROWS, COLUMNS, worst);

  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, in_memory);
  bm_free_device(handle, out_memory);
  bm_dev_free(handle);
  return worst < 1e-5 ? 0 : 1;
}
