// From which size on a second thread pays: the same command on all threads, whatever its size, against one thread. The
// ratio passes 1 where kParallelSteps (device/memory/parallel.hpp) should lie.
#include <string>
#include <vector>

#include "device/memory/parallel.hpp"
#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr int kChannels = 64;
constexpr local_addr_t kFirst = 0x10000, kSecond = 0x20000;

Work divided(const char* name, int elements, void (*command)(const dim4&)) {
  BenchDevice& device = BenchDevice::bm1684x();
  const dim4 shape = {1, kChannels, 1, elements / kChannels};
  const auto run = [&device, shape, command] { device.run([&] { command(shape); }); };
  Work work;
  work.group = "threshold";
  work.name = name + std::string(", ") + std::to_string(elements) + " elements";
  work.amount = work.limit_amount = elements / 1e9;
  work.unit = "G elements";
  work.run = [run] {
    set_parallel_threshold(0);
    run();
    set_parallel_threshold(kParallelSteps);
  };
  work.limit_name = "one thread";
  work.limit = [run] {
    set_thread_limit(1);
    run();
    set_thread_limit(0);
  };
  work.quick = false;
  return work;
}

const bool added = add_work([] {
  std::vector<Work> list;
  for (int elements = 4096; elements <= 262144; elements *= 2) {
    list.push_back(divided("fp_add f32", elements, [](const dim4& shape) {
      tpu_bdc_fp_add(0, kFirst, kSecond, &shape, nullptr, nullptr, nullptr, DT_FP32);
    }));
    list.push_back(divided("fp_add f16", elements, [](const dim4& shape) {
      tpu_bdc_fp_add(0, kFirst, kSecond, &shape, nullptr, nullptr, nullptr, DT_FP16);
    }));
    list.push_back(divided("gdma L2L f32", elements,
                           [](const dim4& shape) { tpu_gdma_cpy_L2L(0, kFirst, &shape, nullptr, nullptr, DT_FP32); }));
  }
  return list;
});

}  // namespace
}  // namespace softtpu::bench
