// Entry points of several steps of arithmetic in one command.
#include <bit>
#include <utility>

#include "device/command/checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/numeric/formats.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/packed.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

constexpr Scalar kNoShift{0, Dtype::kInt8};

// e^(x ln 2) up to the third power, and the sixteenth roots of two from 2^0 to 2^(15 / 16), rounded to each type.
constexpr std::uint32_t kSeries[] = {0x3F800000, 0x3F317218, 0x3E75FDF0, 0x3D635847};
constexpr std::uint32_t kRoots[] = {0x3F800000, 0x3F85AAC3, 0x3F8B95C2, 0x3F91C3D3, 0x3F9837F0, 0x3F9EF532,
                                    0x3FA5FED7, 0x3FAD583F, 0x3FB504F3, 0x3FBD08A4, 0x3FC5672A, 0x3FCE248C,
                                    0x3FD744FD, 0x3FE0CCDF, 0x3FEAC0C7, 0x3FF5257D};

constexpr int kFusedRoots = 16;  // and the series before them
constexpr int series_terms(Dtype type) { return type == Dtype::kFp32 ? 4 : 3; }

// The bits of a number in a float type.
std::uint32_t bits_in(Dtype type, float value) {
  if (type == Dtype::kFp32) return std::bit_cast<std::uint32_t>(value);
  return type == Dtype::kFp16 ? round_f16(value) : round_bf16(value);
}

// A tensor of [1, c, h, w] in parts of whole rows of execution units, and what is left over. `step`: rows from one to
// the next, of which the tensor's are the `first` ones.
struct UnitRows {
  const Call& call;
  Dim4 shape;
  Dtype type;
  int units;
  std::int64_t channel;  // elements of a channel, in rows

  Tensor part(local_addr_t addr, int first, int step, bool tail) const {
    const std::int64_t elements = std::int64_t{shape.h} * shape.w;
    const auto rows = static_cast<int>(elements / units), left = static_cast<int>(elements % units);
    const int start = (tail ? rows * step : 0) + first;
    const auto at = static_cast<local_addr_t>(addr + static_cast<unsigned>(start * units * size_of(type)));
    const auto of_channel = static_cast<int>(channel) * step;
    return call.local(at, tail ? Dim4{1, shape.c, 1, left} : Dim4{1, shape.c, rows, units},
                      Stride4{of_channel, of_channel, step * units, 1}, type);
  }
  // visit(false) for the whole rows, visit(true) for the rest, where there are such.
  template <class Visit>
  void parts(Visit visit) const {
    const std::int64_t elements = std::int64_t{shape.h} * shape.w;
    if (elements >= units) visit(false);
    if (elements % units != 0) visit(true);
  }
};

// e^(A - B) by powers of two (numerics: bm1684x2.md section 5). R1 and R2 have two rows of execution units for each of
// R; while the steps are taken, they are four tensors like R.
struct FusedExp {
  const Call& call;
  Dim4 shape;
  Dtype type;
  local_addr_t result, source, table, first_work, second_work;
  Operand bias;

  Tensor like(local_addr_t addr, Dtype as) const { return call.local(addr, shape, as); }
  Scalar number(float value) const { return {bits_in(type, value), type}; }
  void arith(ArithMode mode, const Tensor& dst, const Operand& a, const Operand& b) const {
    call.issue(ArithCmd{mode, dst, a, b});
  }
  void floor(const Tensor& dst, const Tensor& src) const {
    call.issue(UnaryCmd{UnaryMode::kRound, Rounding::kDown, dst, src});
  }
  // (source - bias) log2(e), bounded as results of the type allow; a NaN becomes the lower bound.
  void exponent(const Tensor& y, const Tensor& from) const {
    constexpr float kLog2E = 0x1.715476p0F, kLow = -0x1.FBFF6Ap6F, kHigh = 0x1.FFFFBAp6F;
    Operand subtracted = bias;
    if (auto* stored = std::get_if<Tensor>(&subtracted)) stored->shape = y.shape;
    arith(ArithMode::kSub, y, from, subtracted);
    arith(ArithMode::kMul, y, y, number(kLog2E));
    const bool half = type == Dtype::kFp16;
    arith(ArithMode::kMax, y, y, number(half ? -15.0F : kLow));
    arith(ArithMode::kMin, y, y, number(half ? 16.0F : kHigh));
  }
  void run() const {
    const bool wide = type == Dtype::kFp32;
    const Dtype integer = wide ? Dtype::kInt32 : Dtype::kInt16;
    const Tensor dst = like(result, type);
    const UnitRows rows{call, shape, type, call.chip().eu_num(type), dst.stride.c};
    const auto half = static_cast<unsigned>(dst.stride.c * size_of(type));
    const local_addr_t upper_first = first_work + half, upper_second = second_work + half;
    const Tensor whole = like(first_work, type), rest = like(upper_first, type), step = like(second_work, type),
                 series = like(upper_second, type);
    exponent(step, like(source, type));
    floor(whole, step);
    arith(ArithMode::kSub, rest, step, whole);
    arith(ArithMode::kMul, step, rest, number(kFusedRoots));
    floor(step, step);
    const Tensor roots = like(upper_second, Dtype::kUint16);
    call.issue(CastCmd{roots, step, Rounding::kHalfToEven});
    const auto at = static_cast<local_addr_t>(table + static_cast<unsigned>(kFusedRoots * size_of(type)));
    const int npus = call.chip().npu_num;
    call.issue(LookupCmd{dst, roots, call.local(at, Dim4{1, npus, 1, kFusedRoots}, type)});
    arith(ArithMode::kMul, step, step, number(1.0F / kFusedRoots));
    arith(ArithMode::kSub, rest, rest, step);
    const Tensor power = like(second_work, integer);
    const Scalar offset{type == Dtype::kFp16 ? 15U : 127U, integer};
    const std::uint32_t places = wide ? 23U : type == Dtype::kFp16 ? 10U : 7U;
    call.issue(CastCmd{power, whole, Rounding::kHalfToEven});
    call.issue(IntArithCmd{IntMode::kAdd, power, power, offset, kNoShift, Rounding::kHalfToEven, false});
    call.issue(ShiftCmd{power, power, Scalar{places, Dtype::kInt8}});
    arith(ArithMode::kMul, dst, dst, step);
    call.issue(TaylorCmd{series, rest, call.local(table, Dim4{1, npus, 1, series_terms(type)}, type)});
    call.issue(CopyCmd{whole, dst});
    arith(ArithMode::kMul, dst, dst, series);
    // What the chip leaves in the work tensors.
    rows.parts([&](bool tail) {
      call.issue(CopyCmd{rows.part(second_work, 0, 2, tail), rows.part(first_work, 0, 1, tail)});
      call.issue(CopyCmd{rows.part(second_work, 1, 2, tail), rows.part(upper_first, 0, 1, tail)});
    });
    rows.parts([&](bool tail) {
      const Tensor y = rows.part(first_work, 1, 2, tail);
      exponent(y, rows.part(source, 0, 1, tail));
      floor(rows.part(first_work, 0, 2, tail), y);
    });
  }
};

Dtype float_of(const Call& call, data_type_t dtype) {
  const Dtype type = call.dtype("dtype", dtype);
  call.require(contains(kFloats, type), "{argument} ({value}) is no {limit}.", "dtype", to_text(type), "float");
  return type;
}

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

void tpu_bdc_load_fuse_exp_coeff(local_addr_t coeff_addr, data_type_t dtype) {
  const Call call(Op::tpu_bdc_load_fuse_exp_coeff);
  const Dtype type = float_of(call, dtype);
  const auto write = [&](int place, std::uint32_t number) {
    const auto addr = static_cast<local_addr_t>(coeff_addr + static_cast<unsigned>(place * size_of(type)));
    call.issue(CopyCmd{call.local(addr, Dim4{1, call.chip().npu_num, 1, 1}, Stride4{1, 1, 1, 1}, type),
                       Scalar{bits_in(type, std::bit_cast<float>(number)), type}});
  };
  for (int term = 0; term < series_terms(type); ++term) write(term, kSeries[term]);
  for (int root = 0; root < kFusedRoots; ++root) write(kFusedRoots + root, kRoots[root]);
}

void tpu_bdc_fuse_exp(local_addr_t R_addr, local_addr_t A_addr, local_addr_t B_addr, local_addr_t table_start_addr,
                      local_addr_t R1_addr, local_addr_t R2_addr, const dim4* shape, bool B_n_is_1, int B_is_const,
                      int B_short_str, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fuse_exp);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = float_of(call, dtype);
  if (!call.require(dim.n == 1, "{argument} ({value}) other than {limit} is not determined.", "shape.n", dim.n, 1))
    return;
  const int npus = call.chip().npu_num;
  if (!call.require(dim.c <= npus, "{argument} ({value}) above {limit} is not determined.", "shape.c", dim.c, npus))
    return;
  if (!call.require(!B_n_is_1 && B_short_str == 0, "{argument} is not determined.",
                    B_n_is_1 ? "B_n_is_1" : "B_short_str"))
    return;
  const Tensor dst = call.local(R_addr, dim, type), src = call.local(A_addr, dim, type);
  Operand bias = Scalar{B_addr, type};
  if (B_is_const == 0) bias = call.local(B_addr, dim, Stride4{0, 1, 0, 0}, type);
  const Dim4 twice{1, dim.c, 2, static_cast<int>(dst.stride.c)};
  // By their own names: each is operands of several commands.
  Checks check(call.core().memories(), call.op());
  check.shape("shape", dim).tensor("R", dst).tensor("A", src).same_npu("A", A_addr, "R", R_addr);
  if (const auto* stored = std::get_if<Tensor>(&bias)) check.tensor("B", *stored).same_npu("B", B_addr, "R", R_addr);
  const Tensor table = call.local(table_start_addr, Dim4{1, npus, 1, 2 * kFusedRoots}, type);
  check.tensor("table", table).on_first_npu("table", table_start_addr);
  for (const auto& [name, addr] : {std::pair{"R1", R1_addr}, std::pair{"R2", R2_addr}}) {
    const Tensor work = call.local(addr, twice, type);
    check.tensor(name, work).same_npu(name, addr, "R", R_addr);
    check.apart("R", dst, work).apart("A", src, work).apart("table", table, work).apart("B", bias, work);
  }
  check.apart("A", src, dst).apart("table", table, dst).apart("B", bias, dst);
  check.apart("R1", call.local(R1_addr, twice, type), call.local(R2_addr, twice, type));
  if (check.violation()) return call.core().fault(ErrorKind::kUsage, *check.violation());
  // NPUs without a channel keep this in their part of the work tensors.
  constexpr std::uint32_t kUnused = 0xDEADBEEF;
  const auto words = static_cast<int>(2 * dst.stride.c * size_of(type) / 4);
  for (const local_addr_t addr : {R1_addr, R2_addr})
    call.issue(CopyCmd{
        call.local(static_cast<local_addr_t>(call.chip().offset_of(addr)), Dim4{1, npus, 1, words}, Dtype::kUint32),
        Scalar{kUnused, Dtype::kUint32}});
  FusedExp{call, dim, type, R_addr, A_addr, table_start_addr, R1_addr, R2_addr, bias}.run();
}
}
