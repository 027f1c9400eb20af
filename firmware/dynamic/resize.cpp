#include <algorithm>

#include "firmware/dynamic/layers.hpp"

namespace softtpu::dynamic {

namespace {

// Elements that lie in one NPU's plane: `count` along the dimension that is doubled, `step` elements from one to the
// next, and all along the other one.
struct Doubling {
  dim4 extents;
  dim4 from_strides, to_strides;
  int from_step, to_step;
  bool along_h;
  data_type_t type;

  dim4 shape(int count) const {
    return along_h ? dim4{extents.n, extents.c, count, extents.w} : dim4{extents.n, extents.c, extents.h, count};
  }
  // Every second element of the result.
  dim4 every_second() const {
    dim4 strides = to_strides;
    (along_h ? strides.h : strides.w) *= 2;
    return strides;
  }
  local_addr_t bytes(int elements) const { return static_cast<local_addr_t>(elements * tpu_data_type_size(type)); }

  // Between two elements lie two of the result, a quarter and three quarters of the way; the ends are those of the
  // input.
  void run(local_addr_t to, local_addr_t from, local_addr_t difference, local_addr_t part) const {
    const int count = along_h ? extents.h : extents.w;
    const dim4 between = shape(count - 1);
    tpu_bdc_fp_sub(difference, from + bytes(from_step), from, &between, nullptr, &from_strides, &from_strides, type);
    const dim4 strides = every_second();
    constexpr float kWays[] = {0.25F, 0.75F};
    for (int i = 0; i < 2; ++i) {
      tpu_bdc_fp_mul_C(part, difference, constant(kWays[i], type), &between, nullptr, nullptr, type);
      tpu_bdc_fp_add(to + bytes((1 + i) * to_step), from, part, &between, &strides, &from_strides, nullptr, type);
    }
    const dim4 single = shape(1);
    tpu_bdc_cpy(to, from, &single, &to_strides, &from_strides, type);
    tpu_bdc_cpy(to + bytes((2 * count - 1) * to_step), from + bytes((count - 1) * from_step), &single, &to_strides,
                &from_strides, type);
  }
};

}  // namespace

// Twice as high and twice as wide: rows first. Each element has its own sum, so that the order of them is free.
void resize(const LayerRun& run) {
  constexpr local_addr_t kFrom = 0, kRows = 0x8000, kTo = 0x10000, kDifference = 0x20000, kPart = 0x30000;
  const data_type_t type = device_type(run.inputs[0].shape.type);
  const dim4 all = to_dim4(run.inputs[0].shape.extents);
  const std::int64_t plane = std::int64_t{all.h} * all.w;
  const std::int64_t planes = std::int64_t{all.n} * all.c;
  for (std::int64_t done = 0; done < planes; done += tpu_npu_num()) {
    const auto channels = static_cast<int>(std::min<std::int64_t>(tpu_npu_num(), planes - done));
    const dim4 shape{1, channels, all.h, all.w};
    const dim4 high{1, channels, 2 * all.h, all.w};
    const dim4 whole{1, channels, 2 * all.h, 2 * all.w};
    const dim4 strides = strides_of({0, type, shape, false});
    const dim4 high_strides = strides_of({0, type, high, false});
    const dim4 whole_strides = strides_of({0, type, whole, false});
    const auto at = static_cast<system_addr_t>(done * plane * tpu_data_type_size(type));
    tpu_gdma_cpy_S2L(kFrom, run.inputs[0].address + at, &shape, nullptr, nullptr, type);
    Doubling{shape, strides, high_strides, all.w, all.w, true, type}.run(kRows, kFrom, kDifference, kPart);
    Doubling{high, high_strides, whole_strides, 1, 1, false, type}.run(kTo, kRows, kDifference, kPart);
    tpu_gdma_cpy_L2S(run.outputs[0].address + 4 * at, kTo, &whole, nullptr, nullptr, type);
  }
}

}  // namespace softtpu::dynamic
