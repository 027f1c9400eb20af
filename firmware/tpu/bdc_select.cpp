// Entry points of comparison and selection.
#include <fmt/format.h>

#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// A variable_t argument: a tensor in the aligned layout, one value for each NPU, or a constant.
Operand variable(const Call& call, const char* name, const variable_t* value, const Dim4& dim, Dtype type) {
  if (!call.given(name, value)) return Scalar{0, type};
  switch (value->type) {
    case TENSOR: return call.local(value->context.addr, dim, type);
    case SCALAR: return scalar(value->context.scalar, type);
    // Channel c reads the element of its own NPU, c modulo the number of NPUs.
    case VECTOR: return call.local(value->context.addr, dim, Stride4{0, 0, 0, 0}, type);
  }
  call.require(false, "{argument} has type {value}, which is not {limit}.", name, static_cast<int>(value->type),
               "TENSOR, SCALAR or VECTOR");
  return Scalar{0, type};
}

void select_winner(const Call& call, Compare compare, local_addr_t dst0_addr, local_addr_t dst1_addr,
                   const variable_t* src0, const variable_t* src1, const variable_t* src2, const variable_t* src3,
                   const dim4* shape, data_type_t dst0_dtype, data_type_t dst1_dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type0 = call.dtype("dst0_dtype", dst0_dtype);
  const Dtype type1 = call.dtype("dst1_dtype", dst1_dtype);
  call.issue(SelectCmd{compare, call.local(dst1_addr, dim, type1), call.local(dst0_addr, dim, type0),
                       variable(call, "src0", src0, dim, type0), variable(call, "src1", src1, dim, type0),
                       variable(call, "src2", src2, dim, type1), variable(call, "src3", src3, dim, type1)});
}

// dst = src0 <compare> src1 ? true_val : 0.
void compare_tensors(const Call& call, Compare compare, local_addr_t dst_addr, local_addr_t src0_addr,
                     local_addr_t src1_addr, scalar_t true_val, const dim4* shape, const dim4* dst_stride,
                     const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype, data_type_t src_dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);
  const Dtype src_type = call.dtype("src_dtype", src_dtype);
  call.issue(CompareCmd{compare, call.local(dst_addr, dim, dst_stride, dst_type),
                        call.local(src0_addr, dim, src0_stride, src_type),
                        call.local(src1_addr, dim, src1_stride, src_type), scalar(true_val, dst_type)});
}

// dst = src <compare> C ? true_val : 0.
void compare_constant(const Call& call, Compare compare, local_addr_t dst_addr, local_addr_t src_addr, scalar_t C,
                      scalar_t true_val, const dim4* shape, const dim4* dst_stride, const dim4* src_stride,
                      data_type_t dst_dtype, data_type_t src_dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);
  const Dtype src_type = call.dtype("src_dtype", src_dtype);
  call.issue(CompareCmd{compare, call.local(dst_addr, dim, dst_stride, dst_type),
                        call.local(src_addr, dim, src_stride, src_type), scalar(C, src_type),
                        scalar(true_val, dst_type)});
}

// dst = src0 <compare> src1 ? src2 : src3.
void select_one(const Call& call, Compare compare, local_addr_t dst_addr, const variable_t* src0,
                const variable_t* src1, const variable_t* src2, const variable_t* src3, const dim4* shape,
                data_type_t src0_src1_dtype, data_type_t dst_dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("src0_src1_dtype", src0_src1_dtype);
  const Dtype dst_type = call.dtype("dst_dtype", dst_dtype);
  call.issue(SelectCmd{compare, call.local(dst_addr, dim, dst_type), std::nullopt,
                       variable(call, "src0", src0, dim, type), variable(call, "src1", src1, dim, type),
                       variable(call, "src2", src2, dim, dst_type), variable(call, "src3", src3, dim, dst_type)});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP(family, ...) OP_##family(__VA_ARGS__)
#define OP_bdc(...)
#define OP_compare(name, compare)                                                                                      \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, scalar_t true_val,                  \
            const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride,               \
            data_type_t dst_dtype, data_type_t src_dtype) {                                                            \
    compare_tensors(Call(Op::name), compare, dst_addr, src0_addr, src1_addr, true_val, shape, dst_stride, src0_stride, \
                    src1_stride, dst_dtype, src_dtype);                                                                \
  }
#define OP_compare_c(name, compare)                                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, scalar_t true_val, const dim4* shape,   \
            const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype) {   \
    compare_constant(Call(Op::name), compare, dst_addr, src_addr, C, true_val, shape, dst_stride, src_stride, \
                     dst_dtype, src_dtype);                                                                   \
  }
#define OP_select(name, compare)                                                                              \
  void name(local_addr_t dst_addr, const variable_t* src0, const variable_t* src1, const variable_t* src2,    \
            const variable_t* src3, const dim4* shape, data_type_t src0_src1_dtype, data_type_t dst_dtype) {  \
    select_one(Call(Op::name), compare, dst_addr, src0, src1, src2, src3, shape, src0_src1_dtype, dst_dtype); \
  }
#include "device/isa/ops/select.def"
#undef OP

void tpu_bdc_maximum_greater_select(local_addr_t dst0_addr, local_addr_t dst1_addr, const variable_t* src0,
                                    const variable_t* src1, const variable_t* src2, const variable_t* src3,
                                    const dim4* shape, data_type_t dst0_dtype, data_type_t dst1_dtype) {
  select_winner(Call(Op::tpu_bdc_maximum_greater_select), Compare::kGreater, dst0_addr, dst1_addr, src0, src1, src2,
                src3, shape, dst0_dtype, dst1_dtype);
}
void tpu_bdc_minimum_less_select(local_addr_t dst0_addr, local_addr_t dst1_addr, const variable_t* src0,
                                 const variable_t* src1, const variable_t* src2, const variable_t* src3,
                                 const dim4* shape, data_type_t dst0_dtype, data_type_t dst1_dtype) {
  select_winner(Call(Op::tpu_bdc_minimum_less_select), Compare::kLess, dst0_addr, dst1_addr, src0, src1, src2, src3,
                shape, dst0_dtype, dst1_dtype);
}
}
