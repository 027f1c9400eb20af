// Each core of BM1690 has an array; afterwards each has the sum of all, which is compared with one made here.
#include <bmlib_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

enum { COUNT = 10007, MOST_CORES = 8 };

static float in[MOST_CORES][COUNT], out[MOST_CORES][COUNT], sum[COUNT];

int main(int argc, char** argv) {
  setenv("SOFTTPU_CHIP", "bm1690", 0);
  unsigned seed = 5;
  for (int i = 0; i < MOST_CORES * COUNT; ++i) {
    seed = seed * 1664525u + 1013904223u;
    in[i / COUNT][i % COUNT] = (float)(seed >> 8) / (float)(1 << 20) - 8.0f;
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
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, argc > 1 ? argv[1] : KERNEL_MODULE);
  if (module == NULL) return fprintf(stderr, "cannot load the kernel module\n"), 1;
  all_reduce_args_t args = {bm_mem_get_device_addr(in_memory), bm_mem_get_device_addr(out_memory), COUNT};
  int list[MOST_CORES];
  for (int i = 0; i < MOST_CORES; ++i) list[i] = i;
  int wrong = 0;
  for (unsigned used = 1; used <= cores && used <= MOST_CORES; used *= 2) {
    memset(sum, 0, sizeof sum);
    // In the order of the cores, as the kernel adds.
    for (unsigned core = 0; core < used; ++core)
      for (int i = 0; i < COUNT; ++i) sum[i] = core == 0 ? in[0][i] : sum[i] + in[core][i];
    memset(out, 0, sizeof out);
    if (bm_memcpy_s2d(handle, out_memory, out) != BM_SUCCESS) return 1;
    if (tpu_kernel_launch_sync_multi_cores(handle, "l2_all_reduce", &args, sizeof args, list, (int)used) != BM_SUCCESS)
      return fprintf(stderr, "the launch on %u cores failed\n", used), 1;
    if (bm_memcpy_d2s(handle, out, out_memory) != BM_SUCCESS) return 1;
    int equal = 0;
    for (unsigned core = 0; core < used; ++core) equal += memcmp(out[core], sum, sizeof sum) == 0;
    printf("%u cores: %d of %u have the sum of all arrays\n", used, equal, used);
    wrong += equal != (int)used;
  }
  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, in_memory);
  bm_free_device(handle, out_memory);
  bm_dev_free(handle);
  return wrong == 0 ? 0 : 1;
}
