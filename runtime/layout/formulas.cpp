#include "runtime/layout/formulas.hpp"

namespace softtpu {
namespace {

using layout_detail::local_stride;
using layout_detail::times;

}  // namespace

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
