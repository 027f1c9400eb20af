// Launches a kernel of the report's test twice, with the same estimate: the racy one, or the one that is named.
#include <bmlib_runtime.h>
#include <stdio.h>

int main(int argc, char** argv) {
  bm_handle_t handle;
  bm_device_mem_t memory;
  if (argc < 2 || bm_dev_request(&handle, 0) != BM_SUCCESS)
    return fprintf(stderr, "usage: racy_host MODULE [KERNEL]\n"), 1;
  if (bm_malloc_device_byte(handle, &memory, 4u << 20) != BM_SUCCESS) return 1;
  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, argv[1]);
  if (module == NULL || bm_memset_device(handle, 0, memory) != BM_SUCCESS) return 1;
  unsigned long long address = bm_mem_get_device_addr(memory);
  tpu_kernel_function_t kernel = tpu_kernel_get_function(handle, module, argc > 2 ? argv[2] : "racy");
  for (int i = 0; i < 2; ++i) {
    if (tpu_kernel_launch(handle, kernel, &address, sizeof address) != BM_SUCCESS) return 1;
  }
  bm_free_device(handle, memory);
  bm_dev_free(handle);
  return 0;
}
