#include "tests/stress/growth.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "bmlib_runtime.h"
#include "softtpu/device.h"
#include "tests/e2e/kernels/e2e_param.h"
#include "tests/e2e/processes.hpp"
#include "tests/stress/process_figures.hpp"

namespace softtpu::stress {
namespace {

constexpr std::uint64_t kMostKibOfLaunches = 1024;
constexpr std::chrono::milliseconds kSettles{500};

class Growth {
 public:
  Growth() : mark_(fmt::format("growth-{}.", ::getpid())) { ::setenv("SOFTTPU_E2E_MARK", mark_.c_str(), 1); }

  bool launch(int count) {
    bm_handle_t handle = nullptr;
    if (bm_dev_request(&handle, 0) != BM_SUCCESS) return fail("a device");
    if (tpu_kernel_load_module_file(handle, e2e::kKernels.c_str()) == nullptr) return fail("the kernels");
    const auto start = std::chrono::steady_clock::now();
    ProcessFigures before;
    const int warm_up = std::max(count / 10, 1);
    for (int i = 0; i < count; ++i) {
      if (i == warm_up) {
        bm_handle_sync(handle);
        before = figures();
      }
      e2e_param_t param{};
      // Some are queued and waited for later.
      const bool waits = i % 16 != 0;
      const bm_status_t status = waits
                                     ? tpu_kernel_launch_sync(handle, "e2e_nothing", &param, sizeof param)
                                     : softtpu_kernel_launch_async_by_name(handle, "e2e_nothing", &param, sizeof param);
      if (status != BM_SUCCESS) return fail(fmt::format("launch {}", i));
    }
    bm_handle_sync(handle);
    const bool flat = expect_flat(fmt::format("{} launches on one device", count), start, before, figures());
    bm_dev_free(handle);
    return flat;
  }

  bool open(int count) {
    const auto start = std::chrono::steady_clock::now();
    const auto others = e2e::marked_processes(mark_).size();
    ProcessFigures before;
    const int warm_up = std::max(count / 10, 1);
    for (int i = 0; i < count; ++i) {
      if (i == warm_up) before = own_figures();
      if (!live_once()) return fail(fmt::format("device {}", i));
    }
    if (!e2e::eventually([&] { return e2e::marked_processes(mark_).size() <= others; }))
      return fail("every device ends with its handle");
    return expect_flat(fmt::format("{} devices, opened, used and given back", count), start, before, own_figures());
  }

 private:
  static bool live_once() {
    bm_handle_t handle = nullptr;
    if (softtpu_device_open(&handle, 0, nullptr, 0) != BM_SUCCESS) return false;
    bm_device_mem_t memory;
    const tpu_kernel_module_t module = tpu_kernel_load_module_file(handle, e2e::kKernels.c_str());
    e2e_param_t param{};
    bool good = module != nullptr && bm_malloc_device_byte(handle, &memory, 1 << 20) == BM_SUCCESS;
    good = good && tpu_kernel_launch_sync(handle, "e2e_nothing", &param, sizeof param) == BM_SUCCESS;
    if (good) bm_free_device(handle, memory);
    if (module != nullptr) tpu_kernel_free_module(handle, module);
    bm_dev_free(handle);
    return good;
  }
  static bool fail(const std::string& what) {
    fmt::print("does not hold: {}\n", what);
    return false;
  }
  static ProcessFigures own_figures() {
    std::this_thread::sleep_for(kSettles);
    return figures_of({::getpid()});
  }
  // The program, the device and its cores.
  ProcessFigures figures() const {
    std::this_thread::sleep_for(kSettles);
    auto processes = e2e::marked_processes(mark_);
    if (processes.empty()) fail("the device's processes are found");
    std::erase(processes, ::getpid());
    processes.push_back(::getpid());
    return figures_of(processes);
  }
  static bool expect_flat(const std::string& what, std::chrono::steady_clock::time_point start,
                          const ProcessFigures& before, const ProcessFigures& after) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    fmt::print("{}, {:.0f} s\n  after a tenth: {}\n  at the end:    {}\n", what, seconds, to_text(before),
               to_text(after));
    bool good = after.descriptors <= before.descriptors || fail("descriptors are flat");
    // A sanitizer keeps books of its own about memory.
    if (!e2e::kSanitized && after.private_kib > before.private_kib + kMostKibOfLaunches) good = fail("memory is flat");
    return good;
  }

  const std::string mark_;
};

}  // namespace

bool run_growth(const GrowthOptions& options) {
  Growth growth;
  const bool launches = options.launches == 0 || growth.launch(options.launches);
  const bool devices = options.devices == 0 || growth.open(options.devices);
  return launches && devices;
}

}  // namespace softtpu::stress
