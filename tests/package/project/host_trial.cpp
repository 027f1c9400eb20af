#include <bmlib_runtime.h>

#include <vector>

namespace {

struct __attribute__((packed)) Param {
  unsigned long long input, output;
  int count;
};

bm_status_t run(const char* module_file) {
  bm_handle_t handle = nullptr;
  BM_CHECK_RET(bm_dev_request(&handle, 0));
  if (tpu_kernel_load_module_file(handle, module_file) == nullptr) return BM_ERR_FAILURE;
  std::vector<float> data(640);
  for (int i = 0; i < 640; ++i) data[static_cast<unsigned>(i)] = static_cast<float>(i);
  bm_device_mem_t input, output;
  BM_CHECK_RET(bm_malloc_device_byte(handle, &input, 2560));
  BM_CHECK_RET(bm_malloc_device_byte(handle, &output, 2560));
  BM_CHECK_RET(bm_memcpy_s2d(handle, input, data.data()));
  const Param param = {bm_mem_get_device_addr(input), bm_mem_get_device_addr(output), 640};
  BM_CHECK_RET(tpu_kernel_launch_sync(handle, "add_to_itself", &param, sizeof(param)));
  BM_CHECK_RET(bm_memcpy_d2s(handle, data.data(), output));
  bm_free_device(handle, input);
  bm_free_device(handle, output);
  bm_dev_free(handle);
  for (int i = 0; i < 640; ++i) {
    if (data[static_cast<unsigned>(i)] != static_cast<float>(2 * i)) return BM_ERR_DATA;
  }
  return BM_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const bm_status_t status = argc == 2 ? run(argv[1]) : BM_ERR_PARAM;
  printf("status %d\n", status);
  return status;
}
