// Runs kernels of a module, one after the other (MODULE KERNEL...), with little patience.
#include <bmlib_runtime.h>
#include <stdio.h>

#include "args.h"

int main(int argc, char** argv) {
  bm_handle_t handle;
  bm_device_mem_t data;
  float values[DEBUG_ELEMENTS];
  if (argc < 3 || bm_dev_request(&handle, 0) != BM_SUCCESS) return 2;
  if (bm_malloc_device_byte(handle, &data, sizeof values) != BM_SUCCESS) return 2;
  for (int i = 0; i < DEBUG_ELEMENTS; ++i) values[i] = (float)i / 4;
  bm_memcpy_s2d(handle, data, values);
  bm_set_sync_timeout(handle, 300);
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, argv[1]);
  debug_args_t args = {bm_mem_get_device_addr(data)};
  for (int i = 2; i < argc; ++i) {
    tpu_kernel_function_t function = tpu_kernel_get_function(handle, module, argv[i]);
    printf("%s: status %d\n", argv[i], (int)tpu_kernel_launch(handle, function, &args, sizeof args));
  }
  bm_memcpy_d2s(handle, values, data);
  printf("first value %g\n", values[0]);
  bm_free_device(handle, data);
  bm_dev_free(handle);
  return 0;
}
