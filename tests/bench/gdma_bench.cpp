// GDMA copies against memcpy of the same bytes with the same number of threads.
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

Work copy(const char* name, std::int64_t bytes, double required, std::function<void(BenchDevice&)> kernel) {
  BenchDevice& device = BenchDevice::of("bm1684x");
  Work work;
  work.group = "GDMA";
  work.name = name;
  work.amount = work.limit_amount = static_cast<double>(bytes) / 1e9;
  work.unit = "GB";
  work.run = [&device, kernel] { device.run([&] { kernel(device); }); };
  work.limit_name = "memcpy, all threads";
  work.limit = memcpy_limit(static_cast<std::size_t>(bytes));
  work.required = required;
  work.vendor = 0.4;
  return work;
}

constexpr dim4 kF32 = {1, 64, 128, 128};  // 4 MB
constexpr dim4 kRows = {1, 64, 128, 64};

const bool added = add_work([] {
  const dim4 row_stride = {64 * 128 * 128, 128 * 128, 128, 1};
  return std::vector<Work>{
      copy("cpy S2L f32 4 MB", 4 << 20, 0.8,
           [](BenchDevice& d) { tpu_gdma_cpy_S2L(0, d.scratch(), &kF32, nullptr, nullptr, DT_FP32); }),
      copy("cpy L2S f32 4 MB", 4 << 20, 0.8,
           [](BenchDevice& d) { tpu_gdma_cpy_L2S(d.scratch(), 0, &kF32, nullptr, nullptr, DT_FP32); }),
      copy("cpy L2L f32 4 MB", 4 << 20, 0.8,
           [](BenchDevice&) { tpu_gdma_cpy_L2L(0x20000, 0, &kF32, nullptr, nullptr, DT_FP32); }),
      copy(
          "cpy S2S f32 4 MB", 4 << 20, 0.8,
          [](BenchDevice& d) { tpu_gdma_cpy_S2S(d.scratch(64 << 20), d.scratch(), &kF32, nullptr, nullptr, DT_FP32); }),
      copy("cpy S2L f32 2 MB, strided rows of 256 bytes", 2 << 20, 0.5,
           [row_stride](BenchDevice& d) { tpu_gdma_cpy_S2L(0, d.scratch(), &kRows, nullptr, &row_stride, DT_FP32); }),
  };
});

}  // namespace
}  // namespace softtpu::bench
