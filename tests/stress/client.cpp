#include "tests/stress/client.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <thread>

#include "bmlib_runtime.h"
#include "tests/e2e/kernels/e2e_param.h"
#include "tests/e2e/processes.hpp"

namespace softtpu::stress {
namespace {

constexpr const char* kFigures = "figures: %llu launches, median %lf ms, mean %lf ms, longest %lf ms";
constexpr unsigned kMostWords = 64 << 10;

// One thread's handle, memories and waits.
class Worker {
 public:
  explicit Worker(unsigned seed) : random_(seed), out_(kMostWords), back_(kMostWords) {}

  bool work(Clock::time_point end) {
    if (bm_dev_request(&handle_, 0) != BM_SUCCESS) return false;
    bool good = true;
    while (good && Clock::now() < end) good = step();
    good = bm_handle_sync(handle_) == BM_SUCCESS && good;
    bm_dev_free(handle_);
    return good;
  }
  const std::vector<double>& waits() const { return waits_; }

 private:
  // Copies out, launches over a part, copies inside the device and back, and compares everything.
  bool step() {
    const unsigned words = 64 + static_cast<unsigned>(random_() % (kMostWords - 64));
    const unsigned filled = words / 2, bytes = words * sizeof(std::uint32_t);
    for (unsigned i = 0; i < words; ++i) out_[i] = static_cast<std::uint32_t>(random_());
    bm_device_mem_t a, b;
    if (bm_malloc_device_byte(handle_, &a, bytes) != BM_SUCCESS) return fail("an allocation");
    if (bm_malloc_device_byte(handle_, &b, bytes) != BM_SUCCESS) return fail("an allocation");
    bool good = bm_memcpy_d2s(handle_, back_.data(), a) == BM_SUCCESS || fail("a copy");
    good = good && (std::all_of(back_.begin(), back_.begin() + words, [](std::uint32_t word) { return word == 0; }) ||
                    fail("new memory is zero"));
    good = good && (bm_memcpy_s2d(handle_, a, out_.data()) == BM_SUCCESS || fail("a copy"));
    good = good && launch(bm_mem_get_device_addr(a), filled);
    good = good && (bm_memcpy_d2d_byte(handle_, b, 0, a, 0, bytes) == BM_SUCCESS || fail("a copy inside the device"));
    good = good && (bm_memcpy_d2s(handle_, back_.data(), b) == BM_SUCCESS || fail("a copy"));
    good = good && compare(words, filled);
    bm_free_device(handle_, a);
    bm_free_device(handle_, b);
    return good;
  }

  bool launch(unsigned long long address, unsigned filled) {
    e2e_param_t param{};
    param.address = address;
    param.count = static_cast<int>(filled);
    value_ = static_cast<int>(random_() % 1000000);
    param.value = value_;
    const auto start = Clock::now();
    // Half of them queued, half waited for at once.
    const bool queued = random_() % 2 == 0;
    const bm_status_t status = queued ? softtpu_kernel_launch_async_by_name(handle_, "e2e_fill", &param, sizeof param)
                                      : tpu_kernel_launch_sync(handle_, "e2e_fill", &param, sizeof param);
    if (status != BM_SUCCESS || (queued && bm_handle_sync(handle_) != BM_SUCCESS)) return fail("a launch");
    waits_.push_back(ms_since(start));
    return true;
  }

  bool compare(unsigned words, unsigned filled) const {
    for (unsigned i = 0; i < words; ++i) {
      const std::uint32_t expected = i < filled ? static_cast<std::uint32_t>(value_) + i : out_[i];
      if (back_[i] != expected) return fail("a result");
    }
    return true;
  }
  static bool fail(const char* what) {
    std::fprintf(stderr, "wrong: %s\n", what);
    return false;
  }

  std::mt19937_64 random_;
  std::vector<std::uint32_t> out_, back_;
  bm_handle_t handle_ = nullptr;
  int value_ = 0;
  std::vector<double> waits_;
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

int run_client(int threads, double seconds, unsigned seed) {
  bm_handle_t handle = nullptr;
  if (bm_dev_request(&handle, 0) != BM_SUCCESS) return 1;
  if (tpu_kernel_load_module_file(handle, e2e::kKernels.c_str()) == nullptr) return 1;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::atomic<bool> good{true};
  std::vector<Worker> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(seed * 1000 + static_cast<unsigned>(i));
  std::vector<std::thread> running;
  for (Worker& worker : workers) {
    running.emplace_back([&worker, &good, end] {
      if (!worker.work(end)) good = false;
    });
  }
  for (std::thread& thread : running) thread.join();
  std::vector<double> waits;
  for (const Worker& worker : workers) waits.insert(waits.end(), worker.waits().begin(), worker.waits().end());
  bm_dev_free(handle);
  if (waits.empty()) return 1;
  std::printf(kFigures, static_cast<unsigned long long>(waits.size()), median(waits),
              std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size()),
              *std::max_element(waits.begin(), waits.end()));
  std::printf("\n");
  return good ? 0 : 1;
}

bool find_figures(const std::string& output, ClientFigures& figures) {
  const std::size_t at = output.find("figures: ");
  unsigned long long launches = 0;
  if (at == std::string::npos || std::sscanf(output.c_str() + at, kFigures, &launches, &figures.median_ms,
                                             &figures.mean_ms, &figures.longest_ms) != 4) {
    return false;
  }
  figures.launches = launches;
  return true;
}

}  // namespace softtpu::stress
