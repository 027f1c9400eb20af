// BM1690: products and convolutions of every narrow type, and SDMA. The figure of the vendor's emulator is that of its
// f16 product on one core (430 ms for 64 x 512 x 512); none of FP8 is known.
#include <random>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr unsigned kLeft = 0, kRight = 0x10000, kResult = 0x20000;
constexpr double kVendor = 0.08;
constexpr int kSize = 512;
constexpr double kProductOperations = 2.0 * kSize * kSize * kSize;
constexpr std::int64_t kMega = 1 << 20;

BenchDevice& device() { return BenchDevice::of("bm1690"); }

Work work_of(const char* name, double operations, std::function<void()> kernel) {
  Work work;
  work.group = "BM1690";
  work.name = name;
  work.amount = work.limit_amount = operations / 1e9;
  work.unit = "GFLOP";
  work.prepare = [] { device().fill_local_memory(); };
  work.run = [kernel = std::move(kernel)] { device().run(kernel); };
  work.limit_name = "f32 multiply then add";
  work.limit = multiply_add_limit(operations);
  work.vendor = kVendor;
  work.required_vendor_ratio = 60;
  return work;
}

// Numbers from 2^-2 to 7.5 (E4M3) or 2^-5 to 56 (E5M2) in every byte; a NaN in each of `every`, none for 0.
void fill_with_fp8(std::size_t every) {
  std::mt19937 random(5);
  std::uint8_t* bytes = device().memories().local(0);
  std::vector<std::uint8_t> part(kMega);
  for (std::uint8_t& byte : part) byte = static_cast<std::uint8_t>(0x28U + random() % 0x27U + (random() & 0x80U));
  for (std::size_t i = 0; every > 0 && i < part.size(); i += every) part[i] = 0x7F;
  for (std::size_t i = 0; i < device().chip().local_mem.bytes; ++i) bytes[i] = part[i % part.size()];
}

Work fp8_mm(const char* name, data_type_t left, data_type_t right, data_type_t result, std::size_t nan_every = 0) {
  Work work = work_of(name, kProductOperations, [left, right, result] {
    tpu_bdc_fp8_mm(kResult, kLeft, kRight, kSize, kSize, kSize, result, left, right, false, false, true,
                   var_context_t{});
  });
  work.prepare = [nan_every] { fill_with_fp8(nan_every); };
  if (nan_every > 0) work.vendor = work.required_vendor_ratio = 0;
  return work;
}

std::vector<Work> products() {
  Work halves = work_of("fp_mm f16 512 x 512 x 512", kProductOperations,
                        [] { tpu_bdc_fp_mm(kResult, kLeft, kRight, kSize, kSize, kSize, DT_FP32, DT_FP16, false); });
  Work bytes = work_of("int8_zp_mm 512 x 512 x 512", kProductOperations, [] {
    scalar_t point;
    point.u32 = 3;
    tpu_bdc_int8_zp_mm(kResult, kLeft, kRight, point, kSize, kSize, kSize, DT_INT8, DT_INT8, false);
  });
  const NamedLimit limit = dot_limit(kProductOperations);
  bytes.unit = "GOP";
  bytes.limit_name = limit.name;
  bytes.limit = limit.run;
  bytes.required = 0.5;
  bytes.vendor = bytes.required_vendor_ratio = 0;
  halves.large = bytes.large = true;
  std::vector<Work> list = {
      std::move(halves),
      std::move(bytes),
      fp8_mm("fp8_mm E4M3 512 x 512 x 512", DT_FP8E4M3, DT_FP8E4M3, DT_FP32),
      fp8_mm("fp8_mm E5M2 x E4M3 512 x 512 x 512, result E4M3", DT_FP8E5M2, DT_FP8E4M3, DT_FP8E4M3),
      fp8_mm("fp8_mm E4M3 512 x 512 x 512, a NaN in every 4096", DT_FP8E4M3, DT_FP8E4M3, DT_FP32, 4096),
  };
  list[2].large = true;
  for (std::size_t i = 3; i < list.size(); ++i) list[i].quick = false;
  return list;
}

constexpr dim4 kInput = {1, 64, 56, 56};
constexpr dim2 kKernel = {3, 3}, kOne = {1, 1};
constexpr padding_t kPad = {1, 1, 1, 1};
constexpr double kConvolutionOperations = 2.0 * 64 * 64 * 9 * 56 * 56;

Work convolution(const char* name, data_type_t type) {
  Work work = work_of(name, kConvolutionOperations, [type] {
    tpu_bdc_fp_conv2d_with_rescale(kResult, kLeft, kRight, 0, 0, &kInput, nullptr, 64, &kKernel, &kPad, &kOne, &kOne,
                                   DT_FP32, type, type, DT_FP32, false, false, false, false, true);
  });
  if (type == DT_FP8E4M3) work.prepare = [] { fill_with_fp8(0); };
  return work;
}

// SDMA between system memories.
Work copy(const char* name, std::int64_t bytes, std::function<void()> kernel) {
  Work work;
  work.group = "BM1690";
  work.name = name;
  work.amount = work.limit_amount = static_cast<double>(bytes) / 1e9;
  work.unit = "GB";
  work.run = [kernel = std::move(kernel)] { device().run(kernel); };
  work.limit_name = "memcpy, all threads";
  work.limit = memcpy_limit(static_cast<std::size_t>(bytes));
  work.required = 0.8;
  work.vendor = 0.04;
  return work;
}

std::vector<Work> copies() {
  static constexpr dim4 kSmall = {2, 64, 64, 128}, kLarge = {2, 64, 256, 128};
  const auto system = [](std::int64_t mega) { return device().scratch(static_cast<std::uint64_t>(mega * kMega)); };
  return {
      copy("SDMA cpy S2S f32 4 MB", 4 * kMega,
           [=] { tpu_sdma_cpy_S2S(system(64), system(0), &kSmall, nullptr, nullptr, DT_FP32); }),
      copy("SDMA cpy S2S f32 16 MB", 16 * kMega,
           [=] { tpu_sdma_cpy_S2S(system(64), system(0), &kLarge, nullptr, nullptr, DT_FP32); }),
      copy("SDMA cpy S2S f32 4 MB to L2", 4 * kMega,
           [=] { tpu_sdma_cpy_S2S(device().chip().l2_sram.start, system(0), &kSmall, nullptr, nullptr, DT_FP32); }),
      copy("SDMA system_cpy 4 MB", 4 * kMega, [=] { tpu_sdma_system_cpy(system(64), system(0), kMega, DT_FP32); }),
  };
}

const bool added = add_work([] {
  std::vector<Work> list = products();
  list.push_back(convolution("conv2d f16 64x56x56 -> 64, 3x3", DT_FP16));
  list.push_back(convolution("conv2d E4M3 64x56x56 -> 64, 3x3", DT_FP8E4M3));
  for (Work& work : copies()) list.push_back(std::move(work));
  return list;
});

}  // namespace
}  // namespace softtpu::bench
