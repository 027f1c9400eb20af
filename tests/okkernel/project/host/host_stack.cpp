#include <cstdio>

#include "bmlib_runtime.h"

struct Param {
  unsigned long long output_addr;
} __attribute__((packed));

int main() {
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  bm_device_mem_t out;
  if (bm_malloc_device_byte(handle, &out, 32 * sizeof(int)) != BM_SUCCESS) return 2;
  Param param = {bm_mem_get_device_addr(out)};
  if (okkernel_launch_sync(handle, "stack", &param, sizeof(param)) != BM_SUCCESS) return 3;
  int values[32];
  if (bm_memcpy_d2s(handle, values, out) != BM_SUCCESS) return 4;
  int wrong = 0;
  for (int i = 0; i < 16; ++i) {
    wrong += values[i] != 0x00FF00FF;
    wrong += values[16 + i] != (512 * 1024 - 16 + i) * 3;
  }
  bm_free_device(handle, out);
  bm_dev_free(handle);
  std::printf("stack: %d wrong\n", wrong);
  return wrong == 0 ? 0 : 5;
}
