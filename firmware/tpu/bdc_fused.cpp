// Entry points of several steps of arithmetic in one command.
#include <bit>

#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/packed.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

constexpr Scalar kNoShift{0, Dtype::kInt8};

}  // namespace
}  // namespace softtpu

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

// The type of a result, and whether it saturates, decide how it is rounded: see the rules of IntArithCmd.
void tpu_bdc_fuse_mul_cast(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                           const dim4* src0_stride, const dim4* src1_stride, const dim4* dst_stride,
                           data_type_t src0_type, data_type_t src1_type, data_type_t dst_type,
                           rounding_mode_t rounding_mode, bool saturation) {
  const Call call(Op::tpu_bdc_fuse_mul_cast);
  const Dim4 dim = call.dim("shape", shape);
  const auto source = [&](const char* name, local_addr_t addr, const dim4* stride, data_type_t code) {
    const Dtype type = call.dtype(name, code);
    call.require(contains(kFloats, type), "{argument} ({value}) is no {limit}.", name, to_text(type),
                 "float of 32 or 16 bits");
    return call.local(addr, dim, stride, type);
  };
  const Tensor src0 = source("src0_type", src0_addr, src0_stride, src0_type);
  const Tensor src1 = source("src1_type", src1_addr, src1_stride, src1_type);
  call.issue(IntArithCmd{IntMode::kMul, call.local(dst_addr, dim, dst_stride, call.dtype("dst_type", dst_type)), src0,
                         src1, kNoShift, call.rounding(rounding_mode), saturation});
}

void tpu_bdc_fp4_mul(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                     const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,
                     data_type_t src0_dtype, data_type_t src1_dtype) {
  const Call call(Op::tpu_bdc_fp4_mul);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype first = call.dtype("src0_dtype", src0_dtype), second = call.dtype("src1_dtype", src1_dtype);
  call.require(first == Dtype::kFp4, "{argument} ({value}) is not {limit}.", "src0_dtype", to_text(first), "fp4");
  call.require(contains(kHalves, second), "{argument} ({value}) is no {limit}.", "src1_dtype", to_text(second),
               "float of 16 bits");
  // Two numbers to a byte, the low half first, as 4-bit integers lie.
  call.issue(IntArithCmd{IntMode::kMul, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)),
                         packed_or_whole(call, "src0", src0_addr, dim, src0_stride, Dtype::kUint4),
                         call.local(src1_addr, dim, src1_stride, second), kNoShift,
                         with_packing(Rounding::kHalfToEven, {.first = true}), false});
}

// dst0 keeps sign and mantissa bits, under an exponent field of 0; dst1 is the exponent. A subnormal counts as a zero.
void tpu_bdc_fp_frexp(local_addr_t dst0_addr, local_addr_t dst1_addr, local_addr_t src_addr, const dim4* shape,
                      data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_frexp);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.require(contains(kFloats, type), "{argument} ({value}) is no {limit}.", "dtype", to_text(type), "float");
  call.require(dst0_addr != src_addr && dst1_addr != src_addr, "{argument} in place is not determined.", "src_addr");
  const bool wide = type == Dtype::kFp32;
  const Dtype bits = wide ? Dtype::kUint32 : Dtype::kUint16;
  const std::uint32_t sign = wide ? 0x80000000U : 0x8000U;
  const std::uint32_t exponents = wide ? 0x7F800000U : type == Dtype::kFp16 ? 0x7C00U : 0x7F80U;
  const Tensor source = call.local(src_addr, dim, bits), mantissa = call.local(dst0_addr, dim, bits),
               power = call.local(dst1_addr, dim, bits);
  // dst1 holds the zeros of subnormals until the exponents are known.
  call.issue(ArithCmd{ArithMode::kAnd, power, source, Scalar{sign, bits}});
  call.issue(ArithCmd{ArithMode::kAnd, mantissa, source, Scalar{exponents, bits}});
  call.issue(SelectCmd{Compare::kEqual, mantissa, std::nullopt, mantissa, Scalar{0, bits}, power, source});
  const Dtype integer = wide ? Dtype::kInt32 : Dtype::kInt16;
  const Tensor exponent = call.local(dst1_addr, dim, integer);
  const Scalar bias{type == Dtype::kFp16 ? 15U : 127U, integer};
  call.issue(ArithCmd{ArithMode::kAnd, power, mantissa, Scalar{exponents, bits}});
  call.issue(ShiftCmd{power, power, Scalar{static_cast<std::uint8_t>(-std::countr_zero(exponents)), Dtype::kInt8}});
  call.issue(IntArithCmd{IntMode::kSub, exponent, exponent, bias, kNoShift, Rounding::kHalfToEven, false});
  call.issue(ArithCmd{ArithMode::kAnd, mantissa, mantissa, Scalar{~exponents & (sign | (sign - 1)), bits}});
}
}
