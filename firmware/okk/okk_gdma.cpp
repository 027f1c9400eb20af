// Entry points of BM1684's GDMA functions.
#include <algorithm>

#include "device/isa/op_names.hpp"
#include "firmware/okk/okk_call.hpp"
#include "firmware/tpu/address.hpp"

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

Tensor tensor(const Call& call, const Side& at, const Dim4& dim, Dtype type) {
  return call.in(at.space, at.addr, dim, at.stride, type);
}

void copy(const Call& call, Dtype type, const Side& dst, const Side& src, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(DmaCopyCmd{CopyOrder::kNchw, tensor(call, dst, dim, type), tensor(call, src, dim, type)});
}

void fill(const Call& call, const Side& dst, const Scalar& value, const dim4* shape) {
  const Dim4 dim = call.dim("shape", shape);
  call.issue(DmaFillCmd{tensor(call, dst, dim, value.dtype), value, false});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OKK(family, ...) OKK_##family(__VA_ARGS__)
#define OKK_gdma(...)
#define OKK_gdma_copy(name, dst_space, dst_t, src_space, src_t, type)                                            \
  void name(dst_t dst_addr, src_t src_addr, const dim4* shape, const dim4* dst_stride, const dim4* src_stride) { \
    copy(Call(Op::name), type, {dst_space, dst_addr, dst_stride}, {src_space, src_addr, src_stride}, shape);     \
  }
#define OKK_gdma_set(name, dst_space, dst_t, c_type, type)                            \
  void name(dst_t dst_addr, c_type C, const dim4* shape, const dim4* dst_stride) {    \
    fill(Call(Op::name), {dst_space, dst_addr, dst_stride}, element(C, type), shape); \
  }
#include "device/isa/ops/okk_gdma.def"
#undef OKK

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
