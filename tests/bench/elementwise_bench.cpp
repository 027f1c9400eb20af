// Element-wise commands in local memory against a plain loop over contiguous arrays of the same bytes.
#include <memory>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

// 2 MB of 32-bit elements, 1 MB of 16-bit ones; bytes have a shape of their own, so that their commands are no shorter.
constexpr dim4 kShape = {1, 64, 64, 128}, kByteShape = {1, 64, 128, 256};
constexpr std::int64_t elements_of(const dim4& shape) { return std::int64_t{shape.c} * shape.h * shape.w; }
template <class T>
constexpr dim4 shape_of = sizeof(T) == 1 ? kByteShape : kShape;
constexpr local_addr_t kDst = 0, kFirst = 0x10000, kSecond = 0x20000, kThird = 0x30000;

// dst[i] = a[i] + b[i] over arrays of the same size as the command's operands.
template <class T>
RangeLoop add_loop() {
  constexpr std::int64_t kElements = elements_of(shape_of<T>);
  auto data = std::make_shared<std::vector<T>>(static_cast<std::size_t>(kElements) * 3, T(1));
  return [data](std::int64_t first, std::int64_t last) {
    T* dst = data->data();
    const T* a = dst + kElements;
    const T* b = a + kElements;
    for (std::int64_t i = first; i < last; ++i) dst[i] = static_cast<T>(a[i] + b[i]);
    keep(dst);
  };
}

// dst[i] = D(src[i]).
template <class D, class S>
RangeLoop convert_loop() {
  constexpr std::int64_t kElements = elements_of(kShape);
  auto dst = std::make_shared<std::vector<D>>(static_cast<std::size_t>(kElements), D(1));
  auto src = std::make_shared<std::vector<S>>(static_cast<std::size_t>(kElements), S(1));
  return [dst, src](std::int64_t first, std::int64_t last) {
    D* to = dst->data();
    const S* from = src->data();
    for (std::int64_t i = first; i < last; ++i) to[i] = static_cast<D>(from[i]);
    keep(dst->data());
  };
}

// dst[i] = a[i] > b[i] ? yes[i] : 0.
template <class T>
RangeLoop select_loop() {
  constexpr std::int64_t kElements = elements_of(shape_of<T>);
  auto data = std::make_shared<std::vector<T>>(static_cast<std::size_t>(kElements) * 4, T(1));
  return [data](std::int64_t first, std::int64_t last) {
    T* dst = data->data();
    const T* a = dst + kElements;
    const T* b = a + kElements;
    const T* yes = b + kElements;
    for (std::int64_t i = first; i < last; ++i) dst[i] = a[i] > b[i] ? yes[i] : T(0);
    keep(dst);
  };
}

Work element_work(const char* name, const dim4& shape, std::function<void()> kernel, RangeLoop limit) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = "element-wise";
  work.name = name;
  work.amount = work.limit_amount = static_cast<double>(elements_of(shape)) / 1e9;
  work.unit = "G elements";
  work.prepare = [&device] { device.fill_local_memory(); };
  work.run = [&device, kernel = std::move(kernel)] { device.run(kernel); };
  work.limit_name = "plain loop over arrays";
  limit_by_loop(work, std::move(limit), elements_of(shape));
  work.required = 0.70;
  work.vendor = 0.1;
  work.large = true;
  return work;
}

// Vector by vector: each element of the first with the whole second one.
constexpr int kFirstLength = 512, kSecondLength = 1024, kPerChannel = 16;
RangeLoop outer_loop() {
  auto data = std::make_shared<std::vector<float>>(kFirstLength * kSecondLength + kFirstLength + kSecondLength, 1.0F);
  return [data](std::int64_t first, std::int64_t last) {
    float* dst = data->data();
    const float* a = dst + kFirstLength * kSecondLength;
    const float* b = a + kFirstLength;
    for (std::int64_t row = first / kSecondLength; row * kSecondLength < last; ++row)
      for (int i = 0; i < kSecondLength; ++i) dst[row * kSecondLength + i] = a[row] * b[i];
    keep(dst);
  };
}
Work outer() {
  Work work = element_work(
      "fp_vc_mul f32 512 x 1024", {1, kFirstLength, 1, kSecondLength},
      [] { tpu_bdc_fp_vc_mul(kDst, kFirst, kSecond, kFirstLength, kSecondLength, kPerChannel, kPerChannel, DT_FP32); },
      outer_loop());
  work.required = 0;  // shown, with nothing promised: rows of 16 elements
  work.large = false;
  return work;
}

using Binary = void (*)(local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim4*,
                        data_type_t);
template <class T>
Work binary(const char* name, data_type_t type, Binary function) {
  return element_work(
      name, shape_of<T>,
      [type, function] { function(kDst, kFirst, kSecond, &shape_of<T>, nullptr, nullptr, nullptr, type); },
      add_loop<T>());
}

using Integer = void (*)(local_addr_t, local_addr_t, local_addr_t, const dim4*, const dim4*, const dim4*, const dim4*,
                         data_type_t, data_type_t, data_type_t, char, rounding_mode_t, bool);
Work int8_binary(const char* name, Integer function) {
  return element_work(
      name, kByteShape,
      [function] {
        function(kDst, kFirst, kSecond, &kByteShape, nullptr, nullptr, nullptr, DT_INT8, DT_INT8, DT_INT8, 0,
                 RM_HALF_TO_EVEN, true);
      },
      add_loop<std::int8_t>());
}

// As where two branches of a network of bytes meet.
Work shifted_add() {
  Work work = element_work(
      "int_add int8 64x128x256, shifted", kByteShape,
      [] {
        tpu_bdc_int_add(kDst, kFirst, kSecond, &kByteShape, nullptr, nullptr, nullptr, DT_INT8, DT_INT8, DT_INT8, -1,
                        RM_HALF_UP, true);
      },
      add_loop<std::int8_t>());
  work.required = 0;  // shown, with nothing promised: the loop shifts nothing
  return work;
}

// One multiplier, shift and zero point for each channel, as behind the convolutions of networks: each result is a
// product of 64 bits, rounded and cut.
constexpr std::uint32_t kMultiplier = 0x60000000, kRightShift40 = 0xD8, kZeroPoint = 3;
Work requant() {
  Work work = element_work(
      "int_pc_requant int32 -> int8 64x64x128", kShape,
      [] {
        constexpr dim4 kWord = {1, 64, 1, 1}, kStride = {4, 4, 4, 1};
        const std::uint32_t words[] = {kMultiplier, kRightShift40, kZeroPoint};
        for (unsigned i = 0; i < 3; ++i) {
          scalar_t value;
          value.u32 = words[i];
          tpu_bdc_set_C(kThird + i * 4, value, &kWord, &kStride, DT_INT32);
        }
        tpu_bdc_int_pc_requant(kDst, kFirst, kThird, &kShape, DT_INT8, DT_INT32, RM_HALF_AWAY_FROM_ZERO);
      },
      convert_loop<std::int8_t, std::int32_t>());
  work.required = 0;  // shown, with nothing promised: the loop multiplies nothing
  return work;
}

template <class D, class S>
Work cast(const char* name, data_type_t to, data_type_t from) {
  return element_work(
      name, kShape, [to, from] { tpu_bdc_cast(kDst, kFirst, &kShape, nullptr, nullptr, to, from, RM_HALF_TO_EVEN); },
      convert_loop<D, S>());
}

template <class T>
Work greater(const char* name, data_type_t type) {
  return element_work(
      name, shape_of<T>,
      [type] {
        scalar_t one;
        one.u32 = 1;
        tpu_bdc_greater(kDst, kFirst, kSecond, one, &shape_of<T>, nullptr, nullptr, nullptr, type, type);
      },
      add_loop<T>());
}

template <class T>
Work select(const char* name, data_type_t type) {
  return element_work(
      name, shape_of<T>,
      [type] {
        variable_t first{}, second{}, yes{}, no{};
        first.type = second.type = yes.type = TENSOR;
        first.context.addr = kFirst;
        second.context.addr = kSecond;
        yes.context.addr = kThird;
        no.type = SCALAR;
        no.context.scalar.u32 = 0;
        tpu_bdc_greater_select(kDst, &first, &second, &yes, &no, &shape_of<T>, type, type);
      },
      select_loop<T>());
}

const bool added = add_work([] {
  std::vector<Work> works = {
      binary<float>("fp_add f32 64x64x128", DT_FP32, tpu_bdc_fp_add),
      binary<float>("fp_mul f32 64x64x128", DT_FP32, tpu_bdc_fp_mul),
      binary<float>("max f32 64x64x128", DT_FP32, tpu_bdc_max),
      binary<std::int16_t>("fp_add f16 64x64x128", DT_FP16, tpu_bdc_fp_add),
      binary<std::int16_t>("fp_add bf16 64x64x128", DT_BFP16, tpu_bdc_fp_add),
      binary<std::int8_t>("max int8 64x128x256", DT_INT8, tpu_bdc_max),
      int8_binary("int_mul int8 64x128x256, saturated", tpu_bdc_int_mul),
      cast<std::int16_t, std::int32_t>("cast f32 -> f16 64x64x128", DT_FP16, DT_FP32),
      cast<std::int16_t, std::int32_t>("cast f32 -> bf16 64x64x128", DT_BFP16, DT_FP32),
      cast<std::int32_t, std::int16_t>("cast f16 -> f32 64x64x128", DT_FP32, DT_FP16),
      greater<float>("greater f32 64x64x128", DT_FP32),
      greater<std::int8_t>("greater int8 64x128x256", DT_INT8),
      select<std::int16_t>("greater_select bf16 64x64x128", DT_BFP16),
  };
  const std::vector<Work> more = {
      binary<std::int16_t>("fp_mul f16 64x64x128", DT_FP16, tpu_bdc_fp_mul),
      binary<std::int16_t>("max f16 64x64x128", DT_FP16, tpu_bdc_max),
      binary<std::int16_t>("fp_mul bf16 64x64x128", DT_BFP16, tpu_bdc_fp_mul),
      binary<std::int16_t>("max bf16 64x64x128", DT_BFP16, tpu_bdc_max),
      int8_binary("int_add int8 64x128x256, saturated", tpu_bdc_int_add),
      shifted_add(),
      cast<std::int8_t, float>("cast f32 -> int8 64x64x128", DT_INT8, DT_FP32),
      cast<float, std::int8_t>("cast int8 -> f32 64x64x128", DT_FP32, DT_INT8),
      greater<std::int16_t>("greater f16 64x64x128", DT_FP16),
      greater<std::int16_t>("greater bf16 64x64x128", DT_BFP16),
      select<float>("greater_select f32 64x64x128", DT_FP32),
      select<std::int16_t>("greater_select f16 64x64x128", DT_FP16),
      select<std::int8_t>("greater_select int8 64x128x256", DT_INT8),
      requant(),
      outer(),
  };
  for (const Work& work : more) {
    works.push_back(work);
    works.back().quick = false;
  }
  return works;
});

}  // namespace
}  // namespace softtpu::bench
