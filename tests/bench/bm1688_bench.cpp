// BM1688, one core: the kinds of rows that BM1684X has, with the same goals, in sizes that its smaller local memories
// hold. No figure of the vendor's emulator is known.
#include <memory>
#include <utility>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr unsigned kFirst = 0, kSecond = 0x8000, kResult = 0x10000;
constexpr std::int64_t kMega = 1 << 20;
constexpr dim2 kKernel = {3, 3}, kOne = {1, 1};
constexpr padding_t kPad = {1, 1, 1, 1};
constexpr dim4 kInput = {1, 64, 56, 56};
constexpr double kConvolutionOperations = 2.0 * 64 * 64 * 9 * 56 * 56;

BenchDevice& device() { return BenchDevice::of("bm1688"); }

Work work_of(const char* name, double amount, const char* unit, std::function<void()> kernel) {
  Work work;
  work.group = "BM1688";
  work.name = name;
  work.amount = work.limit_amount = amount / 1e9;
  work.unit = unit;
  work.prepare = [] { device().fill_local_memory(); };
  work.run = [kernel = std::move(kernel)] { device().run(kernel); };
  work.quick = false;
  return work;
}

Work float_products(const char* name, double operations, double required, std::function<void()> kernel) {
  Work work = work_of(name, operations, "GFLOP", std::move(kernel));
  work.limit_name = "f32 multiply then add";
  work.limit = multiply_add_limit(operations);
  work.required = required;
  return work;
}

Work byte_products(const char* name, double operations, std::function<void()> kernel) {
  Work work = work_of(name, operations, "GOP", std::move(kernel));
  const NamedLimit limit = dot_limit(operations);
  work.limit_name = limit.name;
  work.limit = limit.run;
  work.required = 0.5;
  return work;
}

// dst[i] = a[i] + b[i].
template <class T>
RangeLoop add_loop(std::int64_t count) {
  auto data = std::make_shared<std::vector<T>>(static_cast<std::size_t>(count) * 3, T(1));
  return [data, count](std::int64_t first, std::int64_t last) {
    T* dst = data->data();
    const T* a = dst + count;
    const T* b = a + count;
    for (std::int64_t i = first; i < last; ++i) dst[i] = static_cast<T>(a[i] + b[i]);
    keep(dst);
  };
}

// 32 KiB in each NPU for each operand.
template <class T>
Work element_wise(const char* name, data_type_t type, decltype(&tpu_bdc_fp_add) function) {
  static constexpr dim4 kShape = {1, 64, 128 / static_cast<int>(sizeof(T)), 128};
  constexpr std::int64_t kCount = std::int64_t{64} * kShape.h * kShape.w;
  Work work = work_of(name, kCount, "G elements", [type, function] {
    function(kResult, kFirst, kSecond, &kShape, nullptr, nullptr, nullptr, type);
  });
  work.limit_name = "plain loop over arrays";
  limit_by_loop(work, add_loop<T>(kCount), kCount);
  work.required = 0.7;
  return work;
}

Work copy(const char* name, std::int64_t bytes, std::function<void()> kernel) {
  Work work = work_of(name, static_cast<double>(bytes), "GB", std::move(kernel));
  work.limit_name = "memcpy, all threads";
  work.limit = memcpy_limit(static_cast<std::size_t>(bytes));
  work.required = 0.8;
  return work;
}

std::vector<Work> products() {
  constexpr int kSize = 512;
  constexpr double kOperations = 2.0 * kSize * kSize * kSize;
  scalar_t point;
  point.u32 = 3;
  // As on BM1684X, sums in aligned groups have no goal among loops that add as the machine does.
  return {
      float_products("fp32_mm 512 x 512 x 512", kOperations, 0.6,
                     [] { tpu_bdc_fp32_mm(kResult, kFirst, kSecond, 0, kSize, kSize, kSize, 16, 16, false, false); }),
      float_products("fp_mm f16 512 x 512 x 512", kOperations, 0,
                     [] { tpu_bdc_fp_mm(kResult, kFirst, kSecond, kSize, kSize, kSize, DT_FP32, DT_FP16, false); }),
      byte_products("int8_zp_mm 512 x 512 x 512", kOperations,
                    [point] {
                      tpu_bdc_int8_zp_mm(kResult, kFirst, kSecond, point, kSize, kSize, kSize, DT_INT8, DT_UINT8,
                                         false);
                    }),
      float_products("conv2d f32 64x56x56 -> 64, 3x3", kConvolutionOperations, 0.6,
                     [] {
                       tpu_bdc_fp_conv2d(kResult, kFirst, kSecond, 0, &kInput, nullptr, 64, &kKernel, &kPad, &kOne,
                                         &kOne, DT_FP32, DT_FP32, false, false);
                     }),
      float_products("conv2d f16 64x56x56 -> 64, 3x3", kConvolutionOperations, 0, [] {
        tpu_bdc_fp_conv2d(kResult, kFirst, kSecond, 0, &kInput, nullptr, 64, &kKernel, &kPad, &kOne, &kOne, DT_FP32,
                          DT_FP16, false, false);
      })};
}

const bool added = add_work([] {
  static constexpr dim4 kCopied = {2, 64, 64, 128};
  std::vector<Work> list = products();
  list.push_back(element_wise<float>("fp_add f32 64x32x128", DT_FP32, tpu_bdc_fp_add));
  list.push_back(element_wise<std::int16_t>("fp_add f16 64x64x128", DT_FP16, tpu_bdc_fp_add));
  list.push_back(element_wise<std::int8_t>("max int8 64x128x128", DT_INT8, tpu_bdc_max));
  list.push_back(copy("cpy S2S f32 4 MB", 4 * kMega, [] {
    tpu_gdma_cpy_S2S(device().scratch(64 * kMega), device().scratch(), &kCopied, nullptr, nullptr, DT_FP32);
  }));
  list.push_back(copy("cpy S2L f16 2 MB", 2 * kMega,
                      [] { tpu_gdma_cpy_S2L(0, device().scratch(), &kCopied, nullptr, nullptr, DT_FP16); }));
  return list;
});

}  // namespace
}  // namespace softtpu::bench
