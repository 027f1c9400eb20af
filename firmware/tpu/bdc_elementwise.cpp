// Entry points of element-wise BDC functions of one data type.
#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// Functions that the chip carries out with exchanged operands when only src0 comes without strides (numerics:
// bm1684x-elementwise.md, "operand exchange"); it shows in NaN payloads and signed zeros.
bool exchanges_operands(ArithMode mode, const dim4* src0_stride, const dim4* src1_stride) {
  return mode != ArithMode::kSub && src0_stride == nullptr && src1_stride != nullptr;
}

void unary(const Call& call, UnaryMode mode, Rounding rounding, local_addr_t dst_addr, local_addr_t src_addr,
           const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  if (dst_addr == src_addr) call.dtype("dtype in place", dtype);
  call.issue(UnaryCmd{mode, rounding, call.local(dst_addr, dim, dst_stride, type),
                      call.local(src_addr, dim, src_stride, type)});
}

// dst = src <mode> parameter, in aligned layouts.
void with_parameter(const Call& call, ArithMode mode, local_addr_t dst_addr, local_addr_t src_addr, scalar_t parameter,
                    const dim4* shape, data_type_t dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(ArithCmd{mode, call.local(dst_addr, dim, type), call.local(src_addr, dim, type), scalar(parameter, type)});
}

struct MixedArguments {
  local_addr_t dst, src;
  scalar_t constant;
  const dim4 *shape, *dst_stride, *src_stride;
  data_type_t dst_type, src_type, constant_type;
  int saturate;
};

void mixed(const Call& call, ArithMode mode, const MixedArguments& of) {
  const Dim4 dim = call.dim("shape", of.shape);
  call.issue(MixedArithCmd{mode, call.local(of.dst, dim, of.dst_stride, call.dtype("dst_dtype", of.dst_type)),
                           call.local(of.src, dim, of.src_stride, call.dtype("src_dtype", of.src_type)),
                           scalar(of.constant, call.dtype("C_dtype", of.constant_type)), mode == ArithMode::kSub,
                           of.saturate != 0});
}

void binary(const Call& call, ArithMode mode, local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
            const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride,
            data_type_t dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  const bool exchanged = exchanges_operands(mode, src0_stride, src1_stride);
  if (exchanged) {
    std::swap(src0_addr, src1_addr);
    std::swap(src0_stride, src1_stride);
  }
  call.issue(ArithCmd{mode, call.local(dst_addr, dim, dst_stride, type),
                      call.operand(src0_addr, dim, src0_stride, type), call.operand(src1_addr, dim, src1_stride, type),
                      exchanged});
}

// Some chips compare the bits of f32 bounds.
Dtype bounded_type(const Call& call, ArithMode mode, Dtype type) {
  const bool bounds = mode == ArithMode::kMax || mode == ArithMode::kMin;
  return bounds && type == Dtype::kFp32 && call.chip().has(Quirk::kBoundsByBits) ? Dtype::kInt32 : type;
}

// dst = src <mode> C, or with the constant first.
void with_constant(const Call& call, ArithMode mode, bool constant_first, local_addr_t dst_addr, local_addr_t src_addr,
                   scalar_t C, const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = bounded_type(call, mode, call.dtype("dtype", dtype));
  const Tensor dst = call.local(dst_addr, dim, dst_stride, type);
  Operand a = call.local(src_addr, dim, src_stride, type), b = scalar(C, type);
  if (constant_first) std::swap(a, b);
  call.issue(ArithCmd{mode, dst, a, b});
}

void channel_binary(const Call& call, ArithMode mode, bool source_first, local_addr_t dst_addr, local_addr_t src_addr,
                    local_addr_t bias_addr, const dim4* shape, data_type_t dtype) {
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  Operand a = call.local(src_addr, dim, type), b = call.per_channel(bias_addr, dim, type);
  // Which NaN survives.
  const bool element_first = mode == ArithMode::kAdd && call.chip().has(Quirk::kElementNanFirst);
  if (!source_first && !element_first) std::swap(a, b);
  call.issue(ArithCmd{mode, call.local(dst_addr, dim, type), a, b, false, element_first});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP(family, ...) OP_##family(__VA_ARGS__)
#define OP_bdc(...)
#define OP_binary(name, mode, types)                                                                                  \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,                 \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype) {            \
    binary(Call(Op::name), mode, dst_addr, src0_addr, src1_addr, shape, dst_stride, src0_stride, src1_stride, dtype); \
  }
#define OP_binary_c(name, mode, types)                                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, data_type_t dtype) {                                                         \
    with_constant(Call(Op::name), mode, false, dst_addr, src_addr, C, shape, dst_stride, src_stride, dtype);     \
  }
#define OP_c_binary(name, mode, types)                                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, data_type_t dtype) {                                                         \
    with_constant(Call(Op::name), mode, true, dst_addr, src_addr, C, shape, dst_stride, src_stride, dtype);      \
  }
#define OP_unary(name, mode, types)                                                                               \
  void name(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,              \
            const dim4* src_stride, data_type_t dtype) {                                                          \
    unary(Call(Op::name), mode, Rounding::kHalfToEven, dst_addr, src_addr, shape, dst_stride, src_stride, dtype); \
  }
#define OP_channel_binary(name, mode, source_first)                                                  \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t bias_addr, const dim4* shape, \
            data_type_t dtype) {                                                                     \
    channel_binary(Call(Op::name), mode, source_first, dst_addr, src_addr, bias_addr, shape, dtype); \
  }
#include "device/isa/ops/elementwise.def"
#undef OP

void tpu_bdc_fp_round(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                      const dim4* src_stride, data_type_t dtype, rounding_mode_t mode) {
  const Call call(Op::tpu_bdc_fp_round);
  unary(call, UnaryMode::kRound, call.rounding(mode), dst_addr, src_addr, shape, dst_stride, src_stride, dtype);
}
void tpu_bdc_fp_floor(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                      const dim4* src_stride, data_type_t dtype) {
  unary(Call(Op::tpu_bdc_fp_floor), UnaryMode::kRound, Rounding::kDown, dst_addr, src_addr, shape, dst_stride,
        src_stride, dtype);
}
void tpu_bdc_fp_ceil(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                     const dim4* src_stride, data_type_t dtype) {
  unary(Call(Op::tpu_bdc_fp_ceil), UnaryMode::kRound, Rounding::kUp, dst_addr, src_addr, shape, dst_stride, src_stride,
        dtype);
}
void tpu_bdc_sign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  unary(Call(Op::tpu_bdc_sign), UnaryMode::kSign, Rounding::kHalfToEven, dst_addr, src_addr, shape, nullptr, nullptr,
        dtype);
}

// The larger of the element and 0, so that a NaN gives 0.
void tpu_bdc_relu(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                  const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_relu);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(ArithCmd{ArithMode::kMax, call.local(dst_addr, dim, dst_stride, type),
                      call.local(src_addr, dim, src_stride, type), Scalar{0, type}});
}
void tpu_bdc_prelu(local_addr_t dst_addr, local_addr_t src_addr, scalar_t alpha, const dim4* shape, data_type_t dtype) {
  with_parameter(Call(Op::tpu_bdc_prelu), ArithMode::kPrelu, dst_addr, src_addr, alpha, shape, dtype);
}
void tpu_bdc_fp_add_C_sqr(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                          data_type_t dtype) {
  with_parameter(Call(Op::tpu_bdc_fp_add_C_sqr), ArithMode::kAddSquare, dst_addr, src_addr, C, shape, dtype);
}
void tpu_bdc_fp_sub_C_sqr(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                          data_type_t dtype) {
  with_parameter(Call(Op::tpu_bdc_fp_sub_C_sqr), ArithMode::kSubSquare, dst_addr, src_addr, C, shape, dtype);
}
void tpu_bdc_fp_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                       const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_square);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.require(!is_fp8(type) || call.chip().has(Quirk::kSquaresFp8),
               "{argument} ({value}) is not determined on {limit}.", "dtype", to_text(type), call.chip().name);
  const Tensor src = call.local(src_addr, dim, src_stride, type);
  call.issue(ArithCmd{ArithMode::kMul, call.local(dst_addr, dim, dst_stride, type), src, src});
}

void tpu_bdc_fp32_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                      const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {
  const Call call(Op::tpu_bdc_fp32_mac);
  const Dim4 dim = call.dim("shape", shape);
  call.issue(MacCmd{call.local(dst_addr, dim, dst_stride, Dtype::kFp32),
                    call.local(src0_addr, dim, src0_stride, Dtype::kFp32),
                    call.local(src1_addr, dim, src1_stride, Dtype::kFp32)});
}
void tpu_bdc_fp32_mac_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
                        const dim4* dst_stride, const dim4* src_stride) {
  const Call call(Op::tpu_bdc_fp32_mac_C);
  const Dim4 dim = call.dim("shape", shape);
  call.issue(MacCmd{call.local(dst_addr, dim, dst_stride, Dtype::kFp32),
                    call.local(src_addr, dim, src_stride, Dtype::kFp32), scalar(C, Dtype::kFp32)});
}

void tpu_bdc_fp_scale(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr, const dim4* shape,
                      data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_scale);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  // A scale is a scale with bias +0: a product of -0 becomes +0.
  call.issue(ScaleBiasCmd{call.local(dst_addr, dim, type), call.local(src_addr, dim, type),
                          call.per_channel(scale_addr, dim, type), Scalar{0, type}});
}
void tpu_bdc_fp_scale_bias(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t scale_addr,
                           local_addr_t bias_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_scale_bias);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(ScaleBiasCmd{call.local(dst_addr, dim, type), call.local(src_addr, dim, type),
                          call.per_channel(scale_addr, dim, type), call.per_channel(bias_addr, dim, type)});
}
void tpu_bdc_fp_scale_bias_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t scale, scalar_t bias,
                             const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_scale_bias_C);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(ScaleBiasCmd{call.local(dst_addr, dim, type), call.local(src_addr, dim, type), scalar(scale, type),
                          scalar(bias, type)});
}

#define FP8_C(name, mode)                                                                                        \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype,           \
            int satu_mode) {                                                                                     \
    mixed(Call(Op::name), mode,                                                                                  \
          {dst_addr, src_addr, C, shape, dst_stride, src_stride, dst_dtype, src_dtype, C_dtype, satu_mode});     \
  }
FP8_C(tpu_bdc_fp8_add_C, ArithMode::kAdd)
FP8_C(tpu_bdc_fp8_C_sub, ArithMode::kSub)
FP8_C(tpu_bdc_fp8_mul_C, ArithMode::kMul)
}
