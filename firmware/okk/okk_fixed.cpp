// Entry points of BM1684's fixed-point functions on packed elements.
#include "device/chip/layout.hpp"
#include "device/isa/op_names.hpp"
#include "firmware/okk/okk_call.hpp"

namespace softtpu {
namespace {

constexpr int kWordBytes = 4;
constexpr Scalar kLowBytes{0x00FF00FFU, Dtype::kUint32};  // of the two elements of a word

// The element types that an op_type_t names (its bits: 8-bit sources, signed src0, signed src1, 8-bit dst, signed dst).
struct FixedTypes {
  Dtype a, b, dst;
};
Dtype integer(bool narrow, bool is_signed) {
  if (narrow) return is_signed ? Dtype::kInt8 : Dtype::kUint8;
  return is_signed ? Dtype::kInt16 : Dtype::kUint16;
}
FixedTypes to_types(unsigned bits) {
  return {integer((bits & 1U) != 0, (bits & 2U) != 0), integer((bits & 1U) != 0, (bits & 4U) != 0),
          integer((bits & 8U) != 0, (bits & 16U) != 0)};
}

// One fixed-point call: its shape in elements, its types, and the command that is filled in operand by operand.
class FixedCall {
 public:
  FixedCall(Op op, OkkFixedMode mode, const dim4* shape) : call(op), dim(call.dim("shape", shape)) {
    cmd.mode = mode;
    cmd.batches = dim.n;
  }
  FixedCall& types(const FixedTypes& types) {
    cmd.a_type = types.a;
    cmd.b_type = types.b;
    cmd.dst_type = types.dst;
    return *this;
  }
  FixedCall& types(op_type_t op_type) {
    const auto bits = static_cast<unsigned>(op_type);
    call.require(bits < 32, "{argument} ({value}) is unknown.", "op_type", bits);
    return types(to_types(bits));
  }
  FixedCall& dst(std::uint32_t addr, const dim4* stride) {
    cmd.dst = packed(addr, stride, cmd.dst_type);
    return *this;
  }
  Tensor packed(std::uint32_t addr, const dim4* stride, Dtype type) const {
    return call.local(addr, packed_shape(dim, kWordBytes / size_of(type)), stride, Dtype::kUint32);
  }
  // A constant of the given element type.
  Scalar constant(int value, Dtype type) const {
    const bool narrow = size_of(type) == 1;
    const int low = is_signed_int(type) ? (narrow ? INT8_MIN : INT16_MIN) : 0;
    const int high = is_signed_int(type) ? (narrow ? INT8_MAX : INT16_MAX) : (narrow ? UINT8_MAX : UINT16_MAX);
    if (value < low || value > high)
      call.fault({"{argument} ({value}) is outside {limit}.", "C", std::to_string(value),
                  fmt::format("{}..{}, the range of {}", low, high, to_text(type))});
    return {static_cast<std::uint32_t>(value), Dtype::kInt32};
  }
  // The rules of the call as a whole, before a composite's steps are looked at one by one.
  void check() const { static_cast<void>(call.core().accepts(call.op(), cmd)); }
  void issue() const { call.issue(cmd); }

  Call call;
  Dim4 dim;
  OkkFixedCmd cmd;
};

void fixed(Op op, OkkFixedMode mode, local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
           const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride,
           op_type_t op_type, int rshift) {
  FixedCall fixed(op, mode, shape);
  fixed.types(op_type).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src0_addr, src0_stride, fixed.cmd.a_type);
  fixed.cmd.b = fixed.packed(src1_addr, src1_stride, fixed.cmd.b_type);
  fixed.cmd.rshift = rshift;
  fixed.issue();
}

void fixed_C(Op op, OkkFixedMode mode, local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
             const dim4* dst_stride, const dim4* src_stride, op_type_t op_type, int rshift) {
  FixedCall fixed(op, mode, shape);
  fixed.types(op_type).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src_addr, src_stride, fixed.cmd.a_type);
  fixed.cmd.b = fixed.constant(C, fixed.cmd.b_type);
  fixed.cmd.rshift = rshift;
  fixed.issue();
}

constexpr FixedTypes kShiftSigned{Dtype::kInt16, Dtype::kInt16, Dtype::kInt16};
constexpr FixedTypes kShiftUnsigned{Dtype::kUint16, Dtype::kInt16, Dtype::kUint16};

FixedTypes shift_types(OkkFixedMode mode) {
  return mode == OkkFixedMode::kShiftArithmetic ? kShiftSigned : kShiftUnsigned;
}

void shift(Op op, OkkFixedMode mode, local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
           const dim4* shape, const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {
  FixedCall fixed(op, mode, shape);
  fixed.types(shift_types(mode)).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src0_addr, src0_stride, fixed.cmd.a_type);
  fixed.cmd.b = fixed.packed(src1_addr, src1_stride, fixed.cmd.b_type);
  fixed.issue();
}

void shift_C(Op op, OkkFixedMode mode, local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
             const dim4* dst_stride, const dim4* src_stride) {
  FixedCall fixed(op, mode, shape);
  fixed.types(shift_types(mode)).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src_addr, src_stride, fixed.cmd.a_type);
  fixed.cmd.b = Scalar{static_cast<std::uint32_t>(C), Dtype::kInt32};
  fixed.issue();
}

void C_shift(Op op, OkkFixedMode mode, local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
             const dim4* dst_stride, const dim4* src_stride) {
  FixedCall fixed(op, mode, shape);
  fixed.types(shift_types(mode)).dst(dst_addr, dst_stride);
  fixed.cmd.a = Scalar{static_cast<std::uint32_t>(C), Dtype::kInt32};
  fixed.cmd.b = fixed.packed(src_addr, src_stride, fixed.cmd.b_type);
  fixed.issue();
}

// A work tensor that the chip's steps use and this command does not: only its place is checked.
void check_work(const FixedCall& fixed, const char* name, std::uint32_t addr) {
  const std::uint64_t end = fixed.call.chip().local_mem.bytes;
  if (addr % kWordBytes != 0 || addr >= end)
    fixed.call.fault({"{argument} address ({value}) is not a multiple of {limit}.", name, text_of(Address{addr}),
                      fmt::format("{} below 0x{:x}", kWordBytes, end)});
}

// Plain bytes in the compact layout: every channel is filled up to whole words.
Stride4 byte_compact_stride(const Call& call, int start_npu, const Dim4& shape) {
  const std::int64_t channel = align_up(std::int64_t{shape.h} * shape.w, kWordBytes);
  return {channels_per_npu(call.chip(), start_npu, shape.c) * channel, channel, shape.w, 1};
}

void widen(Op op, bool packed, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
           bool is_signed, bool is_aligned_layout) {
  const FixedCall fixed(op, OkkFixedMode::kAdd, shape);
  check_work(fixed, "work", work_addr);
  const Call& call = fixed.call;
  const Layout layout = is_aligned_layout ? Layout::kAligned : Layout::kCompact;
  const Dtype type = is_signed ? Dtype::kInt8 : Dtype::kUint8;
  Tensor src = call.local(src_addr, fixed.dim, type, layout);
  if (packed) src = call.local(src_addr, packed_shape(fixed.dim, kWordBytes), Dtype::kUint32, layout);
  if (!packed && !is_aligned_layout) src.stride = byte_compact_stride(call, call.chip().npu_of(src_addr), fixed.dim);
  call.issue(OkkWidenCmd{packed, type, call.local(dst_addr, fixed.dim, Dtype::kFp32, layout), src});
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define OKK(family, ...) OKK_##family(__VA_ARGS__)
#define OKK_bdc(...)
#define OKK_composite(...)
#define OKK_fixed(name, mode)                                                                                          \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,                  \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type, int rshift) { \
    fixed(Op::name, mode, dst_addr, src0_addr, src1_addr, shape, dst_stride, src0_stride, src1_stride, op_type,        \
          rshift);                                                                                                     \
  }
#define OKK_fixed_c(name, mode)                                                                             \
  void name(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, op_type_t op_type, int rshift) {                                        \
    fixed_C(Op::name, mode, dst_addr, src_addr, C, shape, dst_stride, src_stride, op_type, rshift);         \
  }
#include "device/isa/ops/okk_fixed.def"
#undef OKK

void okk_bdc_fixed_point_packed_C_sub(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
                                      const dim4* dst_stride, const dim4* src_stride, op_type_t op_type, int rshift) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_C_sub, OkkFixedMode::kSub, shape);
  fixed.types(op_type).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.constant(C, fixed.cmd.a_type);
  fixed.cmd.b = fixed.packed(src_addr, src_stride, fixed.cmd.b_type);
  fixed.cmd.rshift = rshift;
  fixed.issue();
}

void okk_bdc_fixed_point_packed_mac(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
                                    const dim4* shape, const dim4* dst_stride, const dim4* src0_stride,
                                    const dim4* src1_stride, bool is_origin_dst_signed, op_type_t op_type, int lshift,
                                    int rshift) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_mac, OkkFixedMode::kMac, shape);
  fixed.types(op_type).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src0_addr, src0_stride, fixed.cmd.a_type);
  fixed.cmd.b = fixed.packed(src1_addr, src1_stride, fixed.cmd.b_type);
  fixed.cmd.old_signed = is_origin_dst_signed;
  fixed.cmd.lshift = lshift;
  fixed.cmd.rshift = rshift;
  fixed.issue();
}

void okk_bdc_fixed_point_packed_mac_C(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape,
                                      const dim4* dst_stride, const dim4* src_stride, bool is_origin_dst_signed,
                                      op_type_t op_type, int lshift, int rshift) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_mac_C, OkkFixedMode::kMac, shape);
  fixed.types(op_type).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src_addr, src_stride, fixed.cmd.a_type);
  fixed.cmd.b = fixed.constant(C, fixed.cmd.b_type);
  fixed.cmd.old_signed = is_origin_dst_signed;
  fixed.cmd.lshift = lshift;
  fixed.cmd.rshift = rshift;
  fixed.issue();
}

#define MAX_MIN(name, mode)                                                                                         \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,               \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, op_type_t op_type) {          \
    fixed(Op::name, mode, dst_addr, src0_addr, src1_addr, shape, dst_stride, src0_stride, src1_stride, op_type, 0); \
  }
#define MAX_MIN_C(name, mode)                                                                               \
  void name(local_addr_t dst_addr, local_addr_t src_addr, int C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride, op_type_t op_type) {                                                    \
    fixed_C(Op::name, mode, dst_addr, src_addr, C, shape, dst_stride, src_stride, op_type, 0);              \
  }
MAX_MIN(okk_bdc_fixed_point_packed_max, OkkFixedMode::kMax)
MAX_MIN(okk_bdc_fixed_point_packed_min, OkkFixedMode::kMin)
MAX_MIN_C(okk_bdc_fixed_point_packed_max_C, OkkFixedMode::kMax)
MAX_MIN_C(okk_bdc_fixed_point_packed_min_C, OkkFixedMode::kMin)

#define SHIFT(name, mode)                                                                               \
  void name(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,   \
            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {                 \
    shift(Op::name, mode, dst_addr, src0_addr, src1_addr, shape, dst_stride, src0_stride, src1_stride); \
  }
SHIFT(okk_bdc_fixed_point_packed_16bit_arithmetic_shift, OkkFixedMode::kShiftArithmetic)
SHIFT(okk_bdc_fixed_point_packed_16bit_logical_shift, OkkFixedMode::kShiftLogical)

// body: shift_C (tensor by constant) or C_shift (constant by tensor).
#define CONSTANT_SHIFT(name, body, mode, c_type)                                                               \
  void name(local_addr_t dst_addr, local_addr_t src_addr, c_type C, const dim4* shape, const dim4* dst_stride, \
            const dim4* src_stride) {                                                                          \
    body(Op::name, mode, dst_addr, src_addr, C, shape, dst_stride, src_stride);                                \
  }
CONSTANT_SHIFT(okk_bdc_fixed_point_packed_16bit_arithmetic_shift_C, shift_C, OkkFixedMode::kShiftArithmetic, short)
CONSTANT_SHIFT(okk_bdc_fixed_point_packed_16bit_logical_shift_C, shift_C, OkkFixedMode::kShiftLogical, short)
CONSTANT_SHIFT(okk_bdc_fixed_point_packed_16bit_C_arithmetic_shift, C_shift, OkkFixedMode::kShiftArithmetic, short)
CONSTANT_SHIFT(okk_bdc_fixed_point_packed_16bit_C_logical_shift, C_shift, OkkFixedMode::kShiftLogical, unsigned short)

void okk_bdc_fixed_point_packed_16bit_split_high_8bit(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
                                                      const dim4* dst_stride, const dim4* src_stride) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_16bit_split_high_8bit, OkkFixedMode::kHighByte, shape);
  fixed.types({Dtype::kUint16, Dtype::kUint16, Dtype::kUint8}).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src_addr, src_stride, Dtype::kUint16);
  fixed.issue();
}

void okk_bdc_fixed_point_packed_16bit_split_low_8bit(local_addr_t dst_addr, local_addr_t src_addr,
                                                     local_addr_t work_addr, const dim4* shape, const dim4* dst_stride,
                                                     const dim4* src_stride, const dim4* work_stride) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_16bit_split_low_8bit, OkkFixedMode::kLowByte, shape);
  fixed.types({Dtype::kUint16, Dtype::kUint16, Dtype::kUint8}).dst(dst_addr, dst_stride);
  const Tensor work = fixed.packed(work_addr, work_stride, Dtype::kUint16);
  fixed.cmd.a = fixed.packed(src_addr, src_stride, Dtype::kUint16);
  fixed.check();
  check_operand(fixed.call, "work", work, fixed.cmd.dst);
  fixed.cmd.a = work;
  fixed.call.issue_all(
      OkkWordCmd{OkkWordMode::kAnd, work, fixed.packed(src_addr, src_stride, Dtype::kUint16), kLowBytes}, fixed.cmd);
}

void okk_bdc_fixed_point_packed_16bit_mul_8bit(local_addr_t dst_addr, local_addr_t src0_high_addr,
                                               local_addr_t src0_low_addr, local_addr_t src1_addr, const dim4* shape,
                                               const dim4* dst_stride, const dim4* src0_high_stride,
                                               const dim4* src0_low_stride, const dim4* src1_stride,
                                               mul_type_t mul_type, int rshift) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_16bit_mul_8bit, OkkFixedMode::kMulHalves, shape);
  const bool known = mul_type == S16_MUL_S8_TO_S16 || mul_type == U16_MUL_S8_TO_S16 || mul_type == U16_MUL_U8_TO_U16;
  fixed.call.require(known,
                     "{argument} ({value}) is none of S16_MUL_S8_TO_S16, U16_MUL_S8_TO_S16, U16_MUL_U8_TO_U16; "
                     "okk_bdc_fixed_point_packed_s16_mul_u8_to_s16 multiplies int16 by uint8.",
                     "mul_type", static_cast<int>(mul_type));
  const auto bits = static_cast<unsigned>(mul_type);
  fixed.types({integer(true, (bits & 1U) != 0), integer(true, (bits & 2U) != 0), integer(false, (bits & 4U) != 0)});
  fixed.dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src0_high_addr, src0_high_stride, fixed.cmd.a_type);
  fixed.cmd.low = fixed.packed(src0_low_addr, src0_low_stride, Dtype::kUint8);
  fixed.cmd.b = fixed.packed(src1_addr, src1_stride, fixed.cmd.b_type);
  fixed.cmd.rshift = rshift;
  fixed.issue();
}

void okk_bdc_fixed_point_packed_s16_mul_u8_to_s16(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr,
                                                  local_addr_t work_addr, local_addr_t work_high_addr,
                                                  local_addr_t work_low_addr, const dim4* shape, const dim4* dst_stride,
                                                  const dim4* src0_stride, const dim4* src1_stride,
                                                  const dim4* work_stride, const dim4* work_high_stride,
                                                  const dim4* work_low_stride, int rshift) {
  FixedCall fixed(Op::okk_bdc_fixed_point_packed_s16_mul_u8_to_s16, OkkFixedMode::kMulMagnitude, shape);
  if (dst_addr == src0_addr || dst_addr == src1_addr)
    fixed.call.fault({"dst and {argument} have the same address ({value}); dst has to be apart.",
                      dst_addr == src0_addr ? "src0" : "src1", text_of(Address{dst_addr})});
  fixed.types({Dtype::kInt16, Dtype::kUint8, Dtype::kInt16}).dst(dst_addr, dst_stride);
  fixed.cmd.a = fixed.packed(src0_addr, src0_stride, Dtype::kInt16);
  fixed.cmd.b = fixed.packed(src1_addr, src1_stride, Dtype::kUint8);
  fixed.cmd.rshift = rshift;

  // The work tensors take |src0| and its bytes, as on the chip; splitting off the low bytes goes through whole words of
  // dst, which shows in the element that fills up the last word.
  const auto step = [&](OkkFixedMode mode, const FixedTypes& types, const Tensor& dst, const Operand& a, Operand b) {
    return OkkFixedCmd{mode, fixed.dim.n, 0, 0, false, types.dst, types.a, types.b, dst, a, b};
  };
  constexpr FixedTypes kWide{Dtype::kInt16, Dtype::kInt16, Dtype::kInt16};
  constexpr FixedTypes kByte{Dtype::kUint16, Dtype::kUint16, Dtype::kUint8};
  const Tensor work = fixed.packed(work_addr, work_stride, Dtype::kInt16);
  const Tensor high = fixed.packed(work_high_addr, work_high_stride, Dtype::kUint8);
  const Tensor low = fixed.packed(work_low_addr, work_low_stride, Dtype::kUint8);
  fixed.check();
  check_operand(fixed.call, "work", work, fixed.cmd.dst);
  check_operand(fixed.call, "work_high", high, fixed.cmd.dst);
  check_operand(fixed.call, "work_low", low, fixed.cmd.dst);
  fixed.call.issue_all(step(OkkFixedMode::kSub, kWide, work, Scalar{}, fixed.cmd.a),
                       step(OkkFixedMode::kMax, kWide, work, work, fixed.cmd.a),
                       step(OkkFixedMode::kHighByte, kByte, high, work, Scalar{}),
                       OkkWordCmd{OkkWordMode::kAnd, fixed.cmd.dst, work, kLowBytes},
                       step(OkkFixedMode::kLowByte, kByte, low, fixed.cmd.dst, Scalar{}), fixed.cmd);
}

void okk_bdc_4N_int8_to_fp32(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
                             bool is_signed, bool is_aligned_layout) {
  widen(Op::okk_bdc_4N_int8_to_fp32, true, dst_addr, src_addr, work_addr, shape, is_signed, is_aligned_layout);
}

void okk_bdc_int8_to_fp32(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, const dim4* shape,
                          bool is_signed, bool is_aligned_layout) {
  widen(Op::okk_bdc_int8_to_fp32, false, dst_addr, src_addr, work_addr, shape, is_signed, is_aligned_layout);
}
}
