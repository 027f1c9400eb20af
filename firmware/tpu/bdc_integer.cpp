// Entry points of integer arithmetic with shifts, and of shifts.
#include "device/chip/rules.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/packed.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

Scalar shift_count(int count) { return {static_cast<std::uint8_t>(count), Dtype::kInt8}; }
// The shift behind an operation.
Scalar result_shift(const Call& call, char shift) {
  constexpr int kResultBits = 32;
  const int count = static_cast<signed char>(shift);
  return shift_count(count > 0 && call.chip().has(Quirk::kShiftsModulo) ? count % kResultBits : count);
}

void mac(const Call& call, local_addr_t dst_addr, const Dim4& dim, const dim4* dst_stride, const Operand& a,
         const Operand& b, int lshift, int rshift, rounding_mode_t rounding_mode) {
  const bool is_signed = is_signed_int(type_of(a)) || is_signed_int(type_of(b));
  const Dtype type = is_signed ? Dtype::kInt16 : Dtype::kUint16;
  call.issue(MacCmd{call.local(dst_addr, dim, dst_stride, type), a, b, lshift, rshift, call.rounding(rounding_mode)});
}

// Functions that have an argument for a shift and no use for it.
void check_no_shift(const Call& call, char shift) {
  if (!call.chip().has(Quirk::kNoMinMaxShift)) return;
  call.in_range("shift", static_cast<signed char>(shift), 0, 0);
}

// What the functions of this file share: the shape, and operands of a type of their own.
struct Integers {
  Integers(const Call& c, const dim4* shape) : call(c), dim(c.dim("shape", shape)) {}

  Tensor tensor(local_addr_t addr, const dim4* stride, const char* type_name, data_type_t type) const {
    return call.local(addr, dim, stride, call.dtype(type_name, type));
  }

  const Call& call;
  Dim4 dim;
};

struct IntOperand {
  local_addr_t addr;
  const dim4* stride;
  data_type_t type;
};

// One shift for all, or one for each channel.
struct IntShift {
  bool per_channel = false;
  local_addr_t addr = 0;
  int count = 0;
};
Operand operand(const Integers& of, const IntShift& shift) {
  if (shift.per_channel) return of.call.per_channel(shift.addr, of.dim, Dtype::kInt8);
  return result_shift(of.call, static_cast<char>(shift.count));
}

void int_binary(const Call& call, IntMode mode, const IntOperand& dst, const IntOperand& src0, const IntOperand& src1,
                const IntShift& shift, const dim4* shape, rounding_mode_t rounding, bool saturation) {
  const Integers of(call, shape);
  const Dtype to = call.dtype("dst_dtype", dst.type), first = call.dtype("src0_dtype", src0.type),
              second = call.dtype("src1_dtype", src1.type);
  const Packing packing{is_nibble(to), is_nibble(first), is_nibble(second)};
  call.require(!packing.any() || !shift.per_channel,
               "{argument} type is {value}: 4-bit integers with a shift for each channel are not determined.",
               packing.first    ? "src0"
               : packing.second ? "src1"
                                : "dst",
               to_text(packing.first    ? first
                       : packing.second ? second
                                        : to));
  call.issue(IntArithCmd{mode, packed_or_whole(call, "dst", dst.addr, of.dim, dst.stride, to),
                         packed_or_whole(call, "src0", src0.addr, of.dim, src0.stride, first),
                         packed_or_whole(call, "src1", src1.addr, of.dim, src1.stride, second), operand(of, shift),
                         with_packing(call.rounding(rounding), packing), saturation});
}

struct IntConstant {
  scalar_t value;
  data_type_t type;
  bool first;
};
void int_binary_c(const Call& call, IntMode mode, const IntOperand& dst, const IntOperand& src, const IntConstant& C,
                  const IntShift& shift, const dim4* shape, rounding_mode_t rounding, bool saturation) {
  const Integers of(call, shape);
  Operand a = of.tensor(src.addr, src.stride, "src_dtype", src.type);
  Operand b = scalar(C.value, call.dtype("C_dtype", C.type));
  if (C.first) std::swap(a, b);
  call.issue(IntArithCmd{mode, of.tensor(dst.addr, dst.stride, "dst_dtype", dst.type), a, b, operand(of, shift),
                         call.rounding(rounding), saturation});
}

// The larger or smaller of an element and C. The chip ignores the shift (golden bm1684x-1.30: new_ew).
void int_limit(const Call& call, IntMode mode, local_addr_t dst_addr, local_addr_t src_addr, scalar_t C,
               const dim4* shape, const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift,
               rounding_mode_t rounding) {
  check_no_shift(call, shift);
  const Integers of(call, shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(IntArithCmd{mode, call.local(dst_addr, of.dim, dst_stride, type),
                         call.local(src_addr, of.dim, src_stride, type), scalar(C, type), shift_count(0),
                         call.rounding(rounding), true});
}

void shift_by(const Call& call, const IntOperand& dst, const IntOperand& src, const Operand& count, const dim4* shape,
              rounding_mode_t rounding) {
  const Integers of(call, shape);
  call.issue(ShiftCmd{of.tensor(dst.addr, dst.stride, "dst_dtype", dst.type),
                      of.tensor(src.addr, src.stride, "src_dtype", src.type), count, call.rounding(rounding)});
}
void shift_by_tensor(const Call& call, const IntOperand& dst, const IntOperand& src, const IntOperand& count,
                     const dim4* shape, rounding_mode_t rounding) {
  const Integers of(call, shape);
  call.issue(ShiftCmd{of.tensor(dst.addr, dst.stride, "dst_dtype", dst.type),
                      of.tensor(src.addr, src.stride, "src_dtype", src.type),
                      of.tensor(count.addr, count.stride, "shift_dtype", count.type), call.rounding(rounding)});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OP(family, ...) OP_##family(__VA_ARGS__)
#define OP_bdc(...)
#define OP_int_binary(name, mode)                                                                             \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,         \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dst_dtype,  \
            data_type_t src0_dtype, data_type_t src1_dtype, char shift, rounding_mode_t rounding_mode,        \
            bool saturation) {                                                                                \
    int_binary(Call(Op::name), mode, {dst_addr, dst_stride, dst_dtype}, {src0_addr, src0_stride, src0_dtype}, \
               {src1_addr, src1_stride, src1_dtype}, {.count = shift}, shape, rounding_mode, saturation);     \
  }
#define OP_int_binary_c(name, mode, constant_first)                                                                \
  void name(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape, const dim4* dst_stride,   \
            const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, data_type_t C_dtype, char shift, \
            rounding_mode_t rounding_mode, bool saturation) {                                                      \
    int_binary_c(Call(Op::name), mode, {dst_addr, dst_stride, dst_dtype}, {src_addr, src_stride, src_dtype},       \
                 {C, C_dtype, constant_first}, {.count = shift}, shape, rounding_mode, saturation);                \
  }
#define OP_int_pcs(name, mode)                                                                                    \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t shift_addr,       \
            const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride,          \
            data_type_t dst_dtype, data_type_t src0_dtype, data_type_t src1_dtype, rounding_mode_t rounding_mode, \
            bool saturation) {                                                                                    \
    int_binary(Call(Op::name), mode, {dst_addr, dst_stride, dst_dtype}, {src0_addr, src0_stride, src0_dtype},     \
               {src1_addr, src1_stride, src1_dtype}, {true, shift_addr}, shape, rounding_mode, saturation);       \
  }
#define OP_int_pcs_c(name, mode, constant_first)                                                                  \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, scalar_t C, const dim4* shape, \
            const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype,         \
            data_type_t C_dtype, rounding_mode_t rounding_mode, bool saturation) {                                \
    int_binary_c(Call(Op::name), mode, {dst_addr, dst_stride, dst_dtype}, {src_addr, src_stride, src_dtype},      \
                 {C, C_dtype, constant_first}, {true, shift_addr}, shape, rounding_mode, saturation);             \
  }
#include "device/isa/ops/integer.def"
#undef OP

void tpu_bdc_int_square(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                        const dim4* src_stride, data_type_t dst_dtype, data_type_t src_dtype, char shift,
                        rounding_mode_t rounding_mode, bool saturation) {
  const Call call(Op::tpu_bdc_int_square);
  const Dim4 dim = call.dim("shape", shape);
  const Tensor src = call.local(src_addr, dim, src_stride, call.dtype("src_dtype", src_dtype));
  call.issue(IntArithCmd{IntMode::kMul, call.local(dst_addr, dim, dst_stride, call.dtype("dst_dtype", dst_dtype)), src,
                         src, result_shift(call, shift), call.rounding(rounding_mode), saturation});
}

void tpu_bdc_int_min_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                       const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift,
                       rounding_mode_t rounding_mode) {
  int_limit(Call(Op::tpu_bdc_int_min_C), IntMode::kMin, dst_addr, src_addr, C, shape, dst_stride, src_stride, dtype,
            shift, rounding_mode);
}
void tpu_bdc_int_max_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                       const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, char shift,
                       rounding_mode_t rounding_mode) {
  int_limit(Call(Op::tpu_bdc_int_max_C), IntMode::kMax, dst_addr, src_addr, C, shape, dst_stride, src_stride, dtype,
            shift, rounding_mode);
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

void tpu_bdc_arithmetic_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
                              const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride,
                              data_type_t dst_dtype, data_type_t src_dtype, data_type_t shift_dtype,
                              rounding_mode_t rounding_mode) {
  shift_by_tensor(Call(Op::tpu_bdc_arithmetic_shift), {dst_addr, dst_stride, dst_dtype},
                  {src_addr, src_stride, src_dtype}, {shift_addr, shift_stride, shift_dtype}, shape, rounding_mode);
}
void tpu_bdc_logical_shift(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t shift_addr, const dim4* shape,
                           const dim4* dst_stride, const dim4* src_stride, const dim4* shift_stride,
                           data_type_t dst_dtype, data_type_t src_dtype, data_type_t shift_dtype,
                           rounding_mode_t rounding_mode) {
  shift_by_tensor(Call(Op::tpu_bdc_logical_shift), {dst_addr, dst_stride, dst_dtype}, {src_addr, src_stride, src_dtype},
                  {shift_addr, shift_stride, shift_dtype}, shape, rounding_mode);
}
void tpu_bdc_arithmetic_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
                                const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype,
                                data_type_t src_dtype, rounding_mode_t rounding_mode) {
  shift_by(Call(Op::tpu_bdc_arithmetic_shift_C), {dst_addr, dst_stride, dst_dtype}, {src_addr, src_stride, src_dtype},
           shift_count(C), shape, rounding_mode);
}
void tpu_bdc_logical_shift_C(local_addr_t dst_addr, local_addr_t src_addr, char C, const dim4* shape,
                             const dim4* dst_stride, const dim4* src_stride, data_type_t dst_dtype,
                             data_type_t src_dtype, rounding_mode_t rounding_mode) {
  shift_by(Call(Op::tpu_bdc_logical_shift_C), {dst_addr, dst_stride, dst_dtype}, {src_addr, src_stride, src_dtype},
           shift_count(C), shape, rounding_mode);
}
}
