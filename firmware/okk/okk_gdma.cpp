// Entry points of BM1684's GDMA functions.
#include <algorithm>

#include "firmware/okk/okk_call.hpp"

namespace softtpu {
namespace {

template <class Union>
Scalar element(const Union& value, Dtype type) {
  Scalar scalar{0, type};
  static_assert(sizeof(Union) <= sizeof(scalar.bits));
  __builtin_memcpy(&scalar.bits, &value, sizeof(Union));
  return scalar;
}

Tensor system_matrix(system_addr_t addr, int rows, int cols, int row_stride) {
  return {Space::kSystem, addr, {rows, 1, 1, cols}, {row_stride, 0, 0, 1}, Dtype::kUint32, false};
}

// The local side of a copy. Its rows are as far apart as the columns per channel say, also where a row has fewer.
Tensor local_matrix(const Call& call, local_addr_t addr, int rows, int cols, int cols_per_channel) {
  call.require(cols_per_channel >= 1, "{argument} ({value}) is below 1.", "cols_per_channel", cols_per_channel);
  Tensor matrix =
      call.local(addr, matrix_shape(rows, std::max(cols, 1), std::max(cols_per_channel, 1)), Dtype::kUint32);
  // The N stride counts channels from NPU 0, whatever NPU the matrix starts at (golden bm1684/gdma/matrix_S2L/006).
  matrix.stride.n = aligned_stride(call.chip(), 0, matrix.shape, Dtype::kUint32).n;
  matrix.shape.w = std::min(matrix.shape.w, std::max(cols, 1));
  return matrix;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OKK_GDMA_COPY(name, dst_space, dst_t, src_space, src_t, type)                                            \
  void name(dst_t dst_addr, src_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride) { \
    const Call call(Op::name);                                                                                   \
    const Dim4 dim = call.dim("shape", shape);                                                                   \
    call.issue(DmaCopyCmd{CopyOrder::kNchw, call.in(dst_space, dst_addr, dim, dst_stride, type),                 \
                          call.in(src_space, src_addr, dim, src_stride, type)});                                 \
  }
#define OKK_GDMA_SET(name, dst_space, dst_t, c_type, type)                                                \
  void name(dst_t dst_addr, c_type C, const dim4* shape, const dim4* dst_stride) {                        \
    const Call call(Op::name);                                                                            \
    const Dim4 dim = call.dim("shape", shape);                                                            \
    call.issue(DmaFillCmd{call.in(dst_space, dst_addr, dim, dst_stride, type), element(C, type), false}); \
  }
#include "device/isa/ops.def"

void okk_gdma_32bit_matrix_S2L(local_addr_t dst_addr, system_addr_t src_addr, int rows, int cols, int cols_per_channel,
                               int row_stride) {
  const Call call(Op::okk_gdma_32bit_matrix_S2L);
  call.issue(DmaMatrixCmd{local_matrix(call, dst_addr, rows, cols, cols_per_channel),
                          system_matrix(src_addr, rows, cols, row_stride), false});
}

void okk_gdma_32bit_matrix_L2S(system_addr_t dst_addr, local_addr_t src_addr, int rows, int cols, int cols_per_channel,
                               int row_stride) {
  const Call call(Op::okk_gdma_32bit_matrix_L2S);
  call.issue(DmaMatrixCmd{system_matrix(dst_addr, rows, cols, row_stride),
                          local_matrix(call, src_addr, rows, cols, cols_per_channel), false});
}
}
