// host_faults: launches kernels that break down; after each one memory is as it was and another kernel runs.
// host_faults KERNEL: launches that one.
#include <cstdio>

#include "bmlib_runtime.h"

struct Param {
  unsigned long long output_addr;
} __attribute__((packed));

int main(int argc, char** argv) {
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  bm_device_mem_t memory;
  if (bm_malloc_device_byte(handle, &memory, 4096) != BM_SUCCESS) return 2;
  Param param = {bm_mem_get_device_addr(memory)};
  if (argc > 1) {
    const bm_status_t status = okkernel_launch_sync(handle, argv[1], &param, sizeof(param));
    std::printf("%s: status %d\n", argv[1], status);
    bm_free_device(handle, memory);
    bm_dev_free(handle);
    return 0;
  }
  const char* const kernels[] = {"fault_pointer", "fault_division",     "fault_call",      "fault_argument",
                                 "fault_copy",    "fault_local_memory", "fault_recursion", "fault_array"};
  int wrong = 0;
  for (const char* kernel : kernels) {
    unsigned words[1024], back[1024];
    for (unsigned i = 0; i < 1024; ++i) words[i] = i * 17;
    if (bm_memcpy_s2d(handle, memory, words) != BM_SUCCESS) return 3;
    const bm_status_t status = okkernel_launch_sync(handle, kernel, &param, sizeof(param));
    std::printf("%s: status %d\n", kernel, status);
    wrong += status != BM_ERR_FAILURE;
    if (bm_memcpy_d2s(handle, back, memory) != BM_SUCCESS) return 4;
    for (unsigned i = 0; i < 1024; ++i) wrong += back[i] != words[i];
    if (okkernel_launch_sync(handle, "stack", &param, sizeof(param)) != BM_SUCCESS) return 5;
    if (bm_memcpy_d2s(handle, back, memory) != BM_SUCCESS) return 6;
    wrong += back[0] != 0x00FF00FFU;
  }
  wrong += okkernel_launch_sync(handle, "large_array", &param, sizeof(param)) != BM_SUCCESS;
  bm_free_device(handle, memory);
  bm_dev_free(handle);
  std::printf("faults: %d wrong\n", wrong);
  return wrong == 0 ? 0 : 7;
}
