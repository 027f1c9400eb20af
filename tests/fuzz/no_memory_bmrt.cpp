// A program of libbmrt and libbmcv from its start to its end while allocations fail (failing_new.hpp): each call gives
// a status, and what it gives when memory is there is right.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bmcv_api_ext.h"
#include "bmruntime_interface.h"
#include "tests/fuzz/failing_new.hpp"
#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

constexpr int kRounds = 1500, kFunctions = 9;

// The one whose allocations fail in this round.
std::size_t chosen = 0;

template <class Function>
auto call(std::size_t row, const char* name, Function function) {
  return row == chosen ? FailingNew::during(row, name, function) : function();
}

// The outputs of one launch; empty where a call has failed.
std::vector<char> run_once(bm_handle_t handle) {
  std::vector<char> result;
  void* const runtime = call(0, "bmrt_create", [&] { return bmrt_create(handle); });
  if (runtime == nullptr) return result;
  const bool loaded = call(1, "bmrt_load_bmodel", [&] { return bmrt_load_bmodel(runtime, SOFTTPU_FUZZ_NETWORK); });
  const bm_net_info_t* const info =
      !loaded ? nullptr : call(2, "bmrt_get_network_info", [&] { return bmrt_get_network_info(runtime, "softmax"); });
  if (info != nullptr) {
    std::vector<char> in(info->max_input_bytes[0], 1);
    void* inputs[] = {in.data()};
    void* outputs[] = {nullptr};
    bm_shape_t shape{};
    const bool done = call(3, "bmrt_launch_data", [&] {
      return bmrt_launch_data(runtime, info->name, inputs, info->stages[0].input_shapes, 1, outputs, &shape, 1, false);
    });
    if (done) {
      const auto* const bytes = static_cast<const char*>(outputs[0]);
      result.assign(bytes, bytes + info->max_output_bytes[0]);
      std::free(outputs[0]);
    }
  }
  call(4, "bmrt_destroy", [&] { bmrt_destroy(runtime); });
  return result;
}

void use_an_image(bm_handle_t handle) {
  bm_image image{};
  const bm_status_t made = call(5, "bm_image_create", [&] {
    return bm_image_create(handle, 8, 8, FORMAT_RGB_PLANAR, DATA_TYPE_EXT_1N_BYTE, &image, nullptr);
  });
  if (made != BM_SUCCESS) return;
  const bm_status_t has_memory =
      call(6, "bm_image_alloc_dev_mem", [&] { return bm_image_alloc_dev_mem(image, BMCV_HEAP_ANY); });
  if (has_memory == BM_SUCCESS) {
    std::vector<char> pixels(8 * 8 * 3);
    void* planes[] = {pixels.data()};
    call(7, "bm_image_copy_device_to_host", [&] { return bm_image_copy_device_to_host(image, planes); });
  }
  call(8, "bm_image_destroy", [&] { return bm_image_destroy(image); });
}

int run() {
  ::setenv("SOFTTPU_CHIP", "bm1684x", 1);
  ::setenv("SOFTTPU_LOG", "off", 0);
  bmlib_log_set_level(BMLIB_LOG_QUIET);
  bm_handle_t handle = nullptr;
  require(bm_dev_request(&handle, 0) == BM_SUCCESS, "a device can be requested");
  std::vector<char> right;
  int complete = 0;
  for (int round = 0; round < kRounds; ++round) {
    chosen = static_cast<std::size_t>(round % kFunctions);
    use_an_image(handle);
    const std::vector<char> result = run_once(handle);
    if (result.empty()) continue;
    if (right.empty()) right = result;
    require(result == right, "a launch that succeeds gives what every other one gives");
    ++complete;
  }
  std::printf("%d of %d rounds came to a result\n", complete, kRounds);
  require(complete > 0, "some rounds come to a result");
  bm_dev_free(handle);
  return 0;
}

}  // namespace
}  // namespace softtpu::fuzz

int main() { return softtpu::fuzz::run(); }
