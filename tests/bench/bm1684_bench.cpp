// BM1684 through OKKernel functions: the same limits as for BM1684X. The vendor's emulator takes 1.14 s for a product
// of 512 x 512 x 512, 0.2 s for the convolution below, 12 ms for the depthwise one; it copies 0.13 GB/s to local memory
// and 0.18 GB/s back.
#include <random>

#include "okk.h"
#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

// Ordinary numbers in every local memory.
void fill_local_memory(BenchDevice& device) {
  std::mt19937 random(3);
  auto* values = reinterpret_cast<float*>(device.memories().local(0));
  for (std::size_t i = 0; i < device.chip().local_mem.bytes / sizeof(float); ++i)
    values[i] = static_cast<float>(random() >> 8) / 8388608.0F - 1.0F;
}

Work on_bm1684(const char* name, double amount, const char* unit, double vendor_seconds,
               std::function<void(BenchDevice&)> kernel) {
  BenchDevice& device = BenchDevice::of("bm1684");
  Work work;
  work.group = "BM1684";
  work.name = name;
  work.amount = work.limit_amount = amount;
  work.unit = unit;
  work.prepare = [&device] { fill_local_memory(device); };
  work.run = [&device, kernel] { device.run([&] { kernel(device); }); };
  work.vendor = amount / vendor_seconds;
  work.large = true;
  return work;
}

Work compute(const char* name, double operations, double vendor_seconds, std::function<void(BenchDevice&)> kernel) {
  Work work = on_bm1684(name, operations / 1e9, "GFLOP", vendor_seconds, std::move(kernel));
  work.limit_name = "f32 multiply then add";
  work.limit = multiply_add_limit(operations);
  return work;
}

Work copy(const char* name, std::size_t bytes, double vendor_gb, std::function<void(BenchDevice&)> kernel) {
  const double amount = static_cast<double>(bytes) / 1e9;
  Work work = on_bm1684(name, amount, "GB", amount / vendor_gb, std::move(kernel));
  work.limit_name = "memcpy, all threads";
  work.limit = memcpy_limit(bytes);
  work.required = 0.8;
  return work;
}

constexpr dim4 kImage = {1, 64, 56, 56}, kMegas = {1, 64, 128, 128};
constexpr Padding kPad = {1, 1, 1, 1};
constexpr dim2 kOne = {1, 1};

const bool added = add_work([] {
  Work product = compute("matmul 512 x 512 x 512", 2.0 * 512 * 512 * 512, 1.14, [](BenchDevice&) {
    okk_bdc_matmul(0x60000, 0, 0x20000, 0, 512, 512, 512, 8, 8, false, false);
  });
  product.required = 0.6;
  Work convolution = compute("conv2d 64x56x56 -> 64, 3x3", 2.0 * 64 * 64 * 9 * 56 * 56, 0.2, [](BenchDevice&) {
    okk_bdc_conv2d(0x40000, 0, 0x20000, 0, &kImage, 64, 3, 3, nullptr, nullptr, false, false, &kPad, &kOne, &kOne);
  });
  convolution.required = 0.6;
  Work depthwise = compute("depthwise 64x56x56, 3x3", 2.0 * 64 * 9 * 56 * 56, 0.012, [](BenchDevice&) {
    okk_bdc_depthwise2d(0x40000, 0, 0x20000, 0, &kImage, 3, 3, false, &kPad, &kOne, &kOne);
  });
  depthwise.required_vendor_ratio = 50;
  return std::vector<Work>{
      product,
      convolution,
      depthwise,
      copy("cpy S2L f32 4 MB", 4 << 20, 0.13,
           [](BenchDevice& d) { okk_gdma_32bit_cpy_S2L(0, d.scratch(), &kMegas, nullptr, nullptr); }),
      copy("cpy L2S f32 4 MB", 4 << 20, 0.18,
           [](BenchDevice& d) { okk_gdma_32bit_cpy_L2S(d.scratch(), 0, &kMegas, nullptr, nullptr); }),
  };
});

}  // namespace
}  // namespace softtpu::bench
