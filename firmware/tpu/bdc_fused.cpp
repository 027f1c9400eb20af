// Entry points of several steps of arithmetic in one command.
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

// A NaN becomes the lower bound, as a maximum takes its second operand then.
void tpu_bdc_clamp(local_addr_t dst_addr, local_addr_t src_addr, scalar_t min_const_val, scalar_t max_const_val,
                   const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_clamp);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const Tensor dst = call.local(dst_addr, dim, dst_stride, type);
  call.issue(ArithCmd{ArithMode::kMax, dst, call.local(src_addr, dim, src_stride, type), scalar(min_const_val, type)});
  call.issue(ArithCmd{ArithMode::kMin, dst, dst, scalar(max_const_val, type)});
}

void tpu_bdc_fuse_madd(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t src2_addr,
                       const dim4* dst_shape, const dim4* src1_shape, data_type_t dtype, bool src1_compact_store,
                       bool saturation) {
  const Call call(Op::tpu_bdc_fuse_madd);
  const Dim4 dim = call.dim("dst_shape", dst_shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.require(call.dim("src1_shape", src1_shape) == dim, "{argument} other than that of dst is not determined.",
               "src1_shape");
  call.require(!src1_compact_store && !saturation, "{argument} is not determined.",
               saturation ? "saturation" : "src1_compact_store");
  call.issue(ScaleBiasCmd{call.local(dst_addr, dim, type), call.local(src0_addr, dim, type),
                          call.local(src1_addr, dim, type), call.local(src2_addr, dim, type)});
}
}
