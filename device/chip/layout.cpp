#include "device/chip/layout.hpp"

namespace softtpu {
namespace {

Stride4 local_stride(const Chip& chip, int start_npu, const Dim4& shape, std::int64_t c_stride, std::int64_t h_stride) {
  return {channels_per_npu(chip, start_npu, shape.c) * c_stride, c_stride, h_stride, 1};
}

}  // namespace

Stride4 aligned_stride(const Chip& chip, int start_npu, const Dim4& shape, Dtype type) {
  const std::int64_t c_stride = align_up(std::int64_t{shape.h} * shape.w, chip.eu_num(type));
  return local_stride(chip, start_npu, shape, c_stride, shape.w);
}

Stride4 compact_stride(const Chip& chip, int start_npu, const Dim4& shape) {
  return local_stride(chip, start_npu, shape, std::int64_t{shape.h} * shape.w, shape.w);
}

Stride4 line_aligned_stride(const Chip& chip, int start_npu, const Dim4& shape, Dtype type) {
  const std::int64_t h_stride = align_up(shape.w, chip.eu_num(type));
  return local_stride(chip, start_npu, shape, shape.h * h_stride, h_stride);
}

Stride4 continuous_stride(const Dim4& shape) {
  const std::int64_t feature = std::int64_t{shape.h} * shape.w;
  return {shape.c * feature, feature, shape.w, 1};
}

}  // namespace softtpu
