// Element-wise commands in local memory against a plain loop over contiguous arrays of the same bytes.
#include <memory>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr dim4 kShape = {1, 64, 64, 128};
constexpr std::int64_t kElements = 64 * 64 * 128;

// dst[i] = a[i] + b[i] over arrays of the same size as the command's operands.
template <class T>
std::function<void()> add_loop() {
  auto data = std::make_shared<std::vector<T>>(static_cast<std::size_t>(kElements) * 3, T(1));
  return [data] {
    T* dst = data->data();
    const T* a = dst + kElements;
    const T* b = a + kElements;
    for (std::int64_t i = 0; i < kElements; ++i) dst[i] = static_cast<T>(a[i] + b[i]);
    keep(dst);
  };
}

template <class T>
Work binary(const char* name, data_type_t type,
            void (*function)(local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*,
                             const dim4*, data_type_t)) {
  BenchDevice& device = BenchDevice::of("bm1684x");
  Work work;
  work.group = "element-wise";
  work.name = name;
  work.amount = work.limit_amount = static_cast<double>(kElements) / 1e9;
  work.unit = "G elements";
  work.run = [&device, type, function] {
    device.run([&] { function(0, 0x10000, 0x20000, &kShape, nullptr, nullptr, nullptr, type); });
  };
  work.limit_name = "plain loop over arrays";
  work.limit = add_loop<T>();
  work.required = 0.70;
  work.vendor = 0.1;
  return work;
}

const bool added = add_work([] {
  return std::vector<Work>{
      binary<float>("fp_add f32 64x64x128", DT_FP32, tpu_bdc_fp_add),
      binary<float>("fp_mul f32 64x64x128", DT_FP32, tpu_bdc_fp_mul),
      binary<float>("max f32 64x64x128", DT_FP32, tpu_bdc_max),
      binary<std::int16_t>("fp_add f16 64x64x128", DT_FP16, tpu_bdc_fp_add),
      binary<std::int16_t>("fp_add bf16 64x64x128", DT_BFP16, tpu_bdc_fp_add),
      binary<std::int8_t>("max int8 64x64x128", DT_INT8, tpu_bdc_max),
  };
});

}  // namespace
}  // namespace softtpu::bench
