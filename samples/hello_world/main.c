// Starts a device, loads the kernel's module, launches the kernel, reads what it wrote.
#include <bmlib_runtime.h>
#include <stdio.h>

#include "args.h"

#define COUNT 64

int main(int argc, char** argv) {
  const char* module_path = argc > 1 ? argv[1] : KERNEL_MODULE;
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fprintf(stderr, "no device\n"), 1;
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, COUNT * sizeof(float)) != BM_SUCCESS) return 1;

  tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, module_path);
  if (module == NULL) return fprintf(stderr, "cannot load %s\n", module_path), 1;
  tpu_kernel_function_t hello = tpu_kernel_get_function(handle, module, "hello");
  hello_args_t args = {bm_mem_get_device_addr(memory), 42.0f, COUNT};
  if (tpu_kernel_launch(handle, hello, &args, sizeof args) != BM_SUCCESS)
    return fprintf(stderr, "the launch failed\n"), 1;

  float numbers[COUNT];
  if (bm_memcpy_d2s(handle, numbers, memory) != BM_SUCCESS) return 1;
  int right = 0;
  for (int i = 0; i < COUNT; ++i) right += numbers[i] == 42.0f;
  printf("%d of %d numbers are 42\n", right, COUNT);

  tpu_kernel_free_module(handle, module);
  bm_free_device(handle, memory);
  bm_dev_free(handle);
  return right == COUNT ? 0 : 1;
}
