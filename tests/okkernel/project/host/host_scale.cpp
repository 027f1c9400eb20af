#include <cstdio>
#include <vector>

#include "bmlib_runtime.h"

struct Param {
  unsigned long long input_addr, output_addr;
  int elements;
  float scale;
} __attribute__((packed));

int main() {
  const int elements = 64 * 1024 * 5;
  std::vector<float> input(elements), output(elements);
  for (int i = 0; i < elements; ++i) input[i] = static_cast<float>(i % 1000) * 0.25f;
  bm_handle_t handle;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  if (okkernel_load_firmware(handle, "firmware_tcm.bin", "firmware_ddr.bin") != BM_SUCCESS) return 2;
  bm_device_mem_t in, out;
  if (bm_malloc_device_byte(handle, &in, elements * sizeof(float)) != BM_SUCCESS) return 3;
  if (bm_malloc_device_byte(handle, &out, elements * sizeof(float)) != BM_SUCCESS) return 3;
  if (bm_memcpy_s2d(handle, in, input.data()) != BM_SUCCESS) return 4;
  Param param = {bm_mem_get_device_addr(in), bm_mem_get_device_addr(out), elements, 3.f};
  if (okkernel_launch_async(handle, "scale", &param, sizeof(param)) != BM_SUCCESS) return 5;
  if (okkernel_sync(handle) != BM_SUCCESS) return 6;
  if (bm_memcpy_d2s(handle, output.data(), out) != BM_SUCCESS) return 7;
  int wrong = 0;
  for (int i = 0; i < elements; ++i) wrong += output[i] != input[i] * 3.f + 1.f;
  bm_free_device(handle, in);
  bm_free_device(handle, out);
  bm_dev_free(handle);
  std::printf("scale: %d of %d wrong\n", wrong, elements);
  return wrong == 0 ? 0 : 8;
}
