// What launches on several cores cost, and what they gain: chips like bm1684x with 2 and 8 cores, and BM1690, each core
// one thread; and what cores that share each command among all processors take from each other.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bmlib_runtime.h"
#include "device/chip/builtin.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

void need(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "benchmark: %s\n", what);
  std::exit(1);
}

// The description of bm1684x, with more cores.
std::string chip_with(int cores) {
  for (const BuiltinChip& chip : builtin_chips()) {
    if (chip.name != "bm1684x") continue;
    std::string json = chip.json;
    const std::string one = "\"cores\": 1";
    const std::size_t at = json.find(one);
    need(at != std::string::npos, "bm1684x has no one core");
    return json.replace(at, one.size(), "\"cores\": " + std::to_string(cores));
  }
  need(false, "there is no bm1684x");
  return {};
}

// A device of its own: a chip's name or description, and how many cores it has.
class ManyCores {
 public:
  static ManyCores& of(int cores, const char* threads = "1") { return of(chip_with(cores), cores, threads); }
  static ManyCores& of(const std::string& chip, int cores, const char* threads = "1") {
    static std::map<std::pair<std::string, std::string>, std::unique_ptr<ManyCores>> known;
    auto& found = known[{chip, threads}];
    if (!found) found.reset(new ManyCores(chip, cores, threads));
    return *found;
  }

  void launch(const char* kernel, int count, int cores) {
    need(tpu_kernel_launch_sync_multi_cores(handle_, kernel, &count, sizeof count, list_.data(), cores) == BM_SUCCESS,
         "a launch failed");
  }

 private:
  ManyCores(const std::string& chip, int cores, const char* threads) {
    setenv("SOFTTPU_DEVICE", "embedded", 1);
    setenv("SOFTTPU_CHIP", chip.c_str(), 1);
    setenv("SOFTTPU_THREADS", threads, 1);
    setenv("SG_MAX_DEVICE_COUNT", "16", 1);
    static int next_device = 8;  // away from those of other rows
    need(bm_dev_request(&handle_, next_device++) == BM_SUCCESS, "no device");
    unsetenv("SOFTTPU_THREADS");
    need(tpu_kernel_load_module_file(handle_, SOFTTPU_BENCH_KERNELS) != nullptr, "the kernel module does not load");
    for (int i = 0; i < cores; ++i) list_.push_back(i);
  }

  bm_handle_t handle_ = nullptr;
  std::vector<int> list_;
};

// A chip of so many cores: one like bm1684x, or a built-in one by its name.
struct Cores {
  int count;
  std::string chip = {};
  std::string text() const { return std::to_string(count) + " cores" + (chip.empty() ? "" : " of " + chip); }
  ManyCores& device() const { return chip.empty() ? ManyCores::of(count) : ManyCores::of(chip, count); }
};

Work empty_launch(const Cores& cores, double at_most) {
  Work work;
  work.group = "cores";
  work.name = "empty kernel on " + cores.text() + ", launch and wait";
  work.unit = "us";
  work.figure = [cores] {
    ManyCores& device = cores.device();
    constexpr int kLaunches = 200;
    return 1e6 / kLaunches * seconds_of([&] {
             for (int i = 0; i < kLaunches; ++i) device.launch("bench_meet", 0, cores.count);
           });
  };
  work.at_most = at_most;
  return work;
}

Work meeting(const Cores& cores, double at_most) {
  Work work;
  work.group = "cores";
  work.name = "meeting of " + cores.text() + " (tpu_sync_all)";
  work.unit = "us";
  work.figure = [cores] {
    ManyCores& device = cores.device();
    constexpr int kMeetings = 2000;
    return 1e6 / kMeetings * seconds_of([&] { device.launch("bench_meet", kMeetings, cores.count); });
  };
  work.at_most = at_most;
  return work;
}

constexpr int kProducts = 400;

Work products_on(const char* cores, double required) {
  Work work;
  work.group = "cores";
  work.name = std::string("fp32_mm 128 x 128 x 128 on ") + cores;
  work.amount = work.limit_amount = kProducts * 2.0 * 128 * 128 * 128 / 1e9;
  work.unit = "GFLOP";
  work.required = required;
  return work;
}

Work products() {
  Work work = products_on("2 cores, one thread each", 1.8);
  work.run = [] { ManyCores::of(2).launch("bench_products", kProducts, 2); };
  work.limit_name = "the same on one core";
  work.limit = [] { ManyCores::of(2).launch("bench_products", kProducts, 1); };
  return work;
}

Work crowd() {
  Work work = products_on("8 cores, all threads each", 0.95);
  work.run = [] { ManyCores::of(8, "0").launch("bench_products", kProducts, 8); };
  work.limit_name = "one core after the other";
  work.limit = [] {
    for (int i = 0; i < 8; ++i) ManyCores::of(8, "0").launch("bench_products", kProducts / 8, 1);
  };
  return work;
}

const bool added = add_work([] {
  const Cores two{2}, eight{8}, bm1690{8, "bm1690"};
  return std::vector<Work>{empty_launch(two, 25),
                           empty_launch(eight, 60),
                           empty_launch(bm1690, 60),
                           meeting(two, 5),
                           meeting(eight, 100),
                           meeting(bm1690, 100),
                           products(),
                           crowd()};
});

}  // namespace
}  // namespace softtpu::bench
