// Softmax of 2000 rows of 300 numbers on 1, 2, 4 ... cores of BM1690: the same results, compared with double
// precision, and the estimated times side by side.
#include <bmlib_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

enum { ROWS = 2000, COLUMNS = 300, MOST_CORES = 64 };

static float in[ROWS][COLUMNS], out[ROWS][COLUMNS], alone[ROWS][COLUMNS];

static double largest_difference(void) {
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
  return worst;
}

int main(int argc, char** argv) {
  // A chip with 8 cores unless the user names another one; times are estimated.
  setenv("SOFTTPU_CHIP", argc > 1 ? argv[1] : "bm1690", 0);
  setenv("SOFTTPU_TIME", "on", 0);
  unsigned seed = 7;
  for (int i = 0; i < ROWS * COLUMNS; ++i) {
    seed = seed * 1664525u + 1013904223u;
    in[i / COLUMNS][i % COLUMNS] = (float)(seed >> 8) / (float)(1 << 20) - 8.0f;
  }
  bm_handle_t handle;
  bm_device_mem_t in_memory, out_memory;
  unsigned cores = 0;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  if (bm_get_tpu_scalar_num(handle, &cores) != BM_SUCCESS) return 1;
  if (bm_malloc_device_byte(handle, &in_memory, sizeof in) != BM_SUCCESS ||
      bm_malloc_device_byte(handle, &out_memory, sizeof out) != BM_SUCCESS ||
      bm_memcpy_s2d(handle, in_memory, in) != BM_SUCCESS) {
    return fprintf(stderr, "no device memory\n"), 1;
  }
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, argc > 2 ? argv[2] : KERNEL_MODULE);
  if (module == NULL) return fprintf(stderr, "cannot load the kernel module\n"), 1;
  softmax_args_t args = {bm_mem_get_device_addr(out_memory), bm_mem_get_device_addr(in_memory), ROWS, COLUMNS};
  int list[MOST_CORES];
  for (int i = 0; i < MOST_CORES; ++i) list[i] = i;

  printf("%d rows of %d\n  cores  estimated time  times as fast\n", ROWS, COLUMNS);
  double worst = 0;
  unsigned long first = 0;
  for (unsigned used = 1; used <= cores && used <= MOST_CORES; used *= 2) {
    memset(out, 0, sizeof out);
    unsigned long estimate = 0;
    if (bm_memcpy_s2d(handle, out_memory, out) != BM_SUCCESS) return 1;
    if (tpu_kernel_launch_sync_multi_cores(handle, "multicore_softmax", &args, sizeof args, list, (int)used) !=
        BM_SUCCESS)
      return fprintf(stderr, "the launch on %u cores failed\n", used), 1;
    if (bm_get_last_api_process_time_us(handle, &estimate) != BM_SUCCESS) return 1;
    if (bm_memcpy_d2s(handle, out, out_memory) != BM_SUCCESS) return 1;
    if (used == 1) {
      first = estimate;
      memcpy(alone, out, sizeof out);
    }
    if (memcmp(alone, out, sizeof out) != 0) return fprintf(stderr, "%u cores compute something else\n", used), 1;
    printf("  %5u  %11lu us  %13.2f\n", used, estimate, estimate > 0 ? (double)first / (double)estimate : 0.0);
    worst = fmax(worst, largest_difference());
  }
  printf("largest difference from double precision: %.2g\n", worst);

  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, in_memory);
  bm_free_device(handle, out_memory);
  bm_dev_free(handle);
  return worst < 1e-5 ? 0 : 1;
}
