// Entry points of integer arithmetic with shifts, and of shifts.
#include "device/chip/rules.hpp"
#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

Scalar shift_count(int count) { return {static_cast<std::uint8_t>(count), Dtype::kInt8}; }

void mac(const Call& call, local_addr_t dst_addr, const Dim4& dim, const dim4* dst_stride, const Operand& a,
         const Operand& b, int lshift, int rshift, rounding_mode_t rounding_mode) {
  const bool is_signed = is_signed_int(type_of(a)) || is_signed_int(type_of(b));
  const Dtype type = is_signed ? Dtype::kInt16 : Dtype::kUint16;
  call.issue(MacCmd{call.local(dst_addr, dim, dst_stride, type), a, b, lshift, rshift, call.rounding(rounding_mode)});
}

// Functions that have an argument for a shift and no use for it.
void check_no_shift(Op op, char shift) {
  const Call call(op);
  if (!call.chip().has(ChipRule::kNoMinMaxShift)) return;
  call.in_range("shift", static_cast<signed char>(shift), 0, 0);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP_INT_BINARY(name, mode)                                                                            \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,        \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype, \
            data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode,       \
            bool saturation) {                                                                               \
    const Call call(Op::name);                                                                               \
    const Dim4 dim = call.dim("shape", shape);                                                               \
    call.issue(IntArithCmd{mode, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)),  \
                           call.local(src0_addr, dim, src0_stride, call.dtype("src0_dtype", src0_dtype)),    \
                           call.local(src1_addr, dim, src1_stride, call.dtype("src1_dtype", src1_dtype)),    \
                           shift_count(shift), call.rounding(rounding_mode), saturation});                   \
  }
#define OP_INT_BINARY_C(name, mode, constant_first)                                                                \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,   \
            const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype, char shift, \
            rounding_mode_t rounding_mode, bool saturation) {                                                      \
    const Call call(Op::name);                                                                                     \
    const Dim4 dim = call.dim("shape", shape);                                                                     \
    Operand a = call.local(src_addr, dim, src_stride, call.dtype("src_dtype", src_dtype));                         \
    Operand b = scalar(C, call.dtype("C_dtype", C_dtype));                                                         \
    if (constant_first) std::swap(a, b);                                                                           \
    call.issue(IntArithCmd{mode, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)), a, b,  \
                           shift_count(shift), call.rounding(rounding_mode), saturation});                         \
  }
#define OP_INT_PCS(name, mode)                                                                                    \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t shift_addr,       \
            const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride,          \
            data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype, rounding_mode_t rounding_mode, \
            bool saturation) {                                                                                    \
    const Call call(Op::name);                                                                                    \
    const Dim4 dim = call.dim("shape", shape);                                                                    \
    call.issue(IntArithCmd{mode, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)),       \
                           call.local(src0_addr, dim, src0_stride, call.dtype("src0_dtype", src0_dtype)),         \
                           call.local(src1_addr, dim, src1_stride, call.dtype("src1_dtype", src1_dtype)),         \
                           call.per_channel(shift_addr, dim, Dtype::kInt8), call.rounding(rounding_mode),         \
                           saturation});                                                                          \
  }
#define OP_INT_PCS_C(name, mode, constant_first)                                                                  \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C, const dim4* shape, \
            const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,         \
            data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation) {                                \
    const Call call(Op::name);                                                                                    \
    const Dim4 dim = call.dim("shape", shape);                                                                    \
    Operand a = call.local(src_addr, dim, src_stride, call.dtype("src_dtype", src_dtype));                        \
    Operand b = scalar(C, call.dtype("C_dtype", C_dtype));                                                        \
    if (constant_first) std::swap(a, b);                                                                          \
    call.issue(IntArithCmd{mode, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)), a, b, \
                           call.per_channel(shift_addr, dim, Dtype::kInt8), call.rounding(rounding_mode),         \
                           saturation});                                                                          \
  }
#include "device/isa/ops.def"

void tpu_bdc_int_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                        const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, char shift,
                        rounding_mode_t rounding_mode, bool saturation) {
  const Call call(Op::tpu_bdc_int_square);
  const Dim4 dim = call.dim("shape", shape);
  const Tensor src = call.local(src_addr, dim, src_stride, call.dtype("src_dtype", src_dtype));
  call.issue(IntArithCmd{IntMode::kMul, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)), src,
                         src, shift_count(shift), call.rounding(rounding_mode), saturation});
}

// The chip ignores the shift (golden bm1684x-1.30: new_ew).
#define INT_LIMIT_BODY(name, mode)                                                                     \
  const Call call(Op::name);                                                                           \
  const Dim4 dim = call.dim("shape", shape);                                                           \
  const Dtype type = call.dtype("dtype", dtype);                                                       \
  call.issue(IntArithCmd{mode, call.local(dst_addr, dim, dst_stride, type),                            \
                         call.local(src_addr, dim, src_stride, type), scalar(C, type), shift_count(0), \
                         call.rounding(rounding_mode), true});

void tpu_bdc_int_min_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                       const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift,
                       rounding_mode_t rounding_mode) {
  check_no_shift(Op::tpu_bdc_int_min_C, shift);
  INT_LIMIT_BODY(tpu_bdc_int_min_C, IntMode::kMin)
}
void tpu_bdc_int_max_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                       const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift,
                       rounding_mode_t rounding_mode) {
  check_no_shift(Op::tpu_bdc_int_max_C, shift);
  INT_LIMIT_BODY(tpu_bdc_int_max_C, IntMode::kMax)
}

void tpu_bdc_int8_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                      const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t src0_dtype,
                      data_type_t src1_dtype, unsigned char lshift, unsigned char rshift,
                      rounding_mode_t rounding_mode) {
  const Call call(Op::tpu_bdc_int8_mac);
  const Dim4 dim = call.dim("shape", shape);
  mac(call, dst_addr, dim, dst_stride, call.local(src0_addr, dim, src0_stride, call.dtype("src0_dtype", src0_dtype)),
      call.local(src1_addr, dim, src1_stride, call.dtype("src1_dtype", src1_dtype)), lshift, rshift, rounding_mode);
}
void tpu_bdc_int8_mac_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                        const dim4* dst_stride, const dim4* src_stride, data_type_t src_dtype, data_type_t C_dtype,
                        unsigned char lshift, unsigned char rshift, rounding_mode_t rounding_mode) {
  const Call call(Op::tpu_bdc_int8_mac_C);
  const Dim4 dim = call.dim("shape", shape);
  mac(call, dst_addr, dim, dst_stride, call.local(src_addr, dim, src_stride, call.dtype("src_dtype", src_dtype)),
      scalar(C, call.dtype("C_dtype", C_dtype)), lshift, rshift, rounding_mode);
}

#define SHIFT_BODY(name, count)                                                                         \
  const Call call(Op::name);                                                                            \
  const Dim4 dim = call.dim("shape", shape);                                                            \
  call.issue(ShiftCmd{call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)),        \
                      call.local(src_addr, dim, src_stride, call.dtype("src_dtype", src_dtype)), count, \
                      call.rounding(rounding_mode)});

void tpu_bdc_arithmetic_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
                              const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride,
                              data_type_t dst_dtype, data_type_t src_dtype, data_type_t shift_dtype,
                              rounding_mode_t rounding_mode) {
  SHIFT_BODY(tpu_bdc_arithmetic_shift,
             call.local(shift_addr, dim, shift_stride, call.dtype("shift_dtype", shift_dtype)))
}
void tpu_bdc_logical_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
                           const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride,
                           data_type_t dst_dtype, data_type_t src_dtype, data_type_t shift_dtype,
                           rounding_mode_t rounding_mode) {
  SHIFT_BODY(tpu_bdc_logical_shift, call.local(shift_addr, dim, shift_stride, call.dtype("shift_dtype", shift_dtype)))
}
void tpu_bdc_arithmetic_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
                                const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype,
                                data_type_t src_dtype, rounding_mode_t rounding_mode) {
  SHIFT_BODY(tpu_bdc_arithmetic_shift_C, shift_count(C))
}
void tpu_bdc_logical_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
                             const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype,
                             data_type_t src_dtype, rounding_mode_t rounding_mode) {
  SHIFT_BODY(tpu_bdc_logical_shift_C, shift_count(C))
}
}
