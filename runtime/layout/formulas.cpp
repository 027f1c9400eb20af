#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

// A product that stops at a distance far beyond any memory: shapes are checked after their strides are known.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  constexpr std::int64_t kFar = std::int64_t{1} << 56;
  return __builtin_mul_overflow(a, b, &product) || product > kFar ? kFar : product;
}

Stride4 local_stride(int npu_num, int start_npu, const Dim4& shape, std::int64_t c_stride, std::int64_t h_stride) {
  return {times(channels_per_npu(npu_num, start_npu, shape.c), c_stride), c_stride, h_stride, 1};
}

}  // namespace

Stride4 aligned_stride(int npu_num, int start_npu, const Dim4& shape, int eu_num) {
  return local_stride(npu_num, start_npu, shape, align_up(std::int64_t{shape.h} * shape.w, eu_num), shape.w);
}

Stride4 compact_stride(int npu_num, int start_npu, const Dim4& shape) {
  return local_stride(npu_num, start_npu, shape, std::int64_t{shape.h} * shape.w, shape.w);
}

Stride4 line_aligned_stride(int npu_num, int start_npu, const Dim4& shape, int eu_num) {
  const std::int64_t h_stride = align_up(shape.w, eu_num);
  return local_stride(npu_num, start_npu, shape, times(shape.h, h_stride), h_stride);
}

Stride4 continuous_stride(const Dim4& shape) {
  const std::int64_t feature = std::int64_t{shape.h} * shape.w;
  return {times(shape.c, feature), feature, shape.w, 1};
}

Dim4 matrix_shape(int rows, int cols, int cols_per_channel) {
  return {rows, static_cast<int>(ceil_div(cols, cols_per_channel)), 1, cols_per_channel};
}

Dim4 packed_shape(const Dim4& shape, int pack) {
  return {static_cast<int>(ceil_div(shape.n, pack)), shape.c, shape.h, shape.w};
}

Stride4 weight_stride(const Dim4& shape, int pack) {
  const std::int64_t window = std::int64_t{shape.h} * shape.w;
  return {window, packed_shape(shape, pack).n * window, shape.w, 1};
}

}  // namespace softtpu
