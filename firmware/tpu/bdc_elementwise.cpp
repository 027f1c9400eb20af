// Entry points of element-wise BDC functions.
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// add, mul, diff_abs, max and min take their operands in exchanged order when only src0 comes without strides
// (numerics: bm1684x-elementwise.md, "operand exchange"); it shows in NaN payloads and signed zeros.
bool exchanges_operands(ArithMode mode, const dim4* src0_stride, const dim4* src1_stride) {
  return mode != ArithMode::kSub && src0_stride == nullptr && src1_stride != nullptr;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP_BINARY(name, mode, types)                                                                       \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,      \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype) { \
    const Call call(Op::name);                                                                             \
    const Dim4 dim = call.dim("shape", shape);                                                             \
    const Dtype type = call.dtype("dtype", dtype);                                                         \
    Operand a = call.local(src0_addr, dim, src0_stride, type);                                             \
    Operand b = call.local(src1_addr, dim, src1_stride, type);                                             \
    if (exchanges_operands(mode, src0_stride, src1_stride)) std::swap(a, b);                               \
    call.issue(ArithCmd{mode, call.local(dst_addr, dim, dst_stride, type), a, b});                         \
  }
#define OP_BINARY_C(name, mode, types)                                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, data_type_t dtype) {                                                         \
    const Call call(Op::name);                                                                                   \
    const Dim4 dim = call.dim("shape", shape);                                                                   \
    const Dtype type = call.dtype("dtype", dtype);                                                               \
    call.issue(ArithCmd{mode, call.local(dst_addr, dim, dst_stride, type),                                       \
                        call.local(src_addr, dim, src_stride, type), scalar(C, type)});                          \
  }
#define OP_C_BINARY(name, mode, types)                                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, data_type_t dtype) {                                                         \
    const Call call(Op::name);                                                                                   \
    const Dim4 dim = call.dim("shape", shape);                                                                   \
    const Dtype type = call.dtype("dtype", dtype);                                                               \
    call.issue(ArithCmd{mode, call.local(dst_addr, dim, dst_stride, type), scalar(C, type),                      \
                        call.local(src_addr, dim, src_stride, type)});                                           \
  }
#include "device/isa/ops.def"
}
