// Entry points of special functions that are one command: series, tables, exponents, roots, quotients, coefficients.
#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/isa/op_names.hpp"
#include "device/memory/static_tables.hpp"
#include "firmware/call.hpp"
#include "firmware/tpu/coefficient_call.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

// Newton steps of the functions that do not let the caller choose.
constexpr int kNewtonSteps = 3;

// A table that every NPU holds: [1, npu_num, 1, length].
Tensor on_every_npu(const Call& call, local_addr_t addr, int length, Dtype type) {
  return call.local(addr, Dim4{1, call.chip().npu_num, 1, length}, type);
}

void load_fp32(const Call& call, local_addr_t addr, std::uint32_t offset, int length) {
  check_coefficients(call, addr);
  const Tensor dst = on_every_npu(call, addr, length, Dtype::kFp32);
  call.issue(StaticLoadCmd{dst, Tensor{Space::kStatic, static_place(call.chip(), offset), dst.shape,
                                       Stride4{0, 0, 0, 1}, Dtype::kFp32, false}});
}

// The type of a root or quotient. The steps of other functions take the halves on every chip.
Dtype quotient_type(const Call& call, data_type_t dtype) {
  const Dtype type = call.dtype("dtype", dtype);
  const bool halves = !call.chip().has(Quirk::kFp32Quotients) || call.core().composite().has_value();
  if (!halves && contains(kHalves, type)) {
    const std::string only{to_text(Dtype::kFp32)};
    const Wrong wrong{"{argument} is {value} (allowed: {limit}).", "dtype", std::string(to_text(type)), only};
    call.core().fault(ErrorKind::kUsage, Refusal{call.op(), "constraint/data-type", wrong, only});
  }
  return type;
}

void root(const Call& call, RootMode mode, local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, Dtype type,
          int iterations) {
  const Dim4 dim = call.dim("shape", shape);
  const RootCmd cmd{mode, call.local(dst_addr, dim, type), call.local(src_addr, dim, type), iterations};
  // The chip puts 1 / sqrt(src) into dst and multiplies it by src (golden bm1684x-varied/v_inplace/fp32_sqrt). As a
  // step of another function the command is also used in place.
  if (mode == RootMode::kSqrt && call.core().accepts(call.op(), cmd)) {
    const Violation overlap = Checks(call.core().memories(), call.op()).apart("src", cmd.src, cmd.dst).violation();
    if (overlap) call.core().fault(ErrorKind::kUsage, *overlap);
  }
  call.issue(cmd);
}

// The common arguments of the quotients: where the result goes and how its elements lie.
struct Quotient {
  Call call;
  local_addr_t dst_addr;
  const dim4* shape;
  const dim4* dst_stride;
  Dtype type = Dtype::kFp32;
  int iterations = kNewtonSteps;

  Operand tensor(local_addr_t addr, const dim4* stride) const {
    return call.local(addr, call.dim("shape", shape), stride, type);
  }
  template <class Value>
  Operand constant(const Value& value) const {
    return scalar(value, type);
  }
  void divide(const Operand& a, const Operand& b) const {
    const Tensor dst = call.local(dst_addr, call.dim("shape", shape), dst_stride, type);
    call.issue(DivideCmd{dst, a, b, iterations});
  }
  // The public manual: reciprocal is the quotient with 1 above the line.
  void reciprocal(local_addr_t src_addr, const dim4* src_stride) const {
    const std::uint32_t one = type == Dtype::kFp32 ? 0x3F800000U : type == Dtype::kFp16 ? 0x3C00U : 0x3F80U;
    divide(Scalar{one, type}, tensor(src_addr, src_stride));
  }
};

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_fp_taylor(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t coeff_addr, const dim4* shape,
                       int num, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_taylor);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dtype", dtype);
  call.issue(TaylorCmd{call.local(dst_addr, dim, type), call.local(src_addr, dim, type),
                       on_every_npu(call, coeff_addr, call.in_range("num", num, 2, kMaxExtent), type)});
}

void tpu_bdc_table_lookup(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t table_addr, const dim4* shape,
                          int len, data_type_t dst_dtype, data_type_t src_dtype) {
  const Call call(Op::tpu_bdc_table_lookup);
  const Dim4 dim = call.dim("shape", shape);
  const Dtype type = call.dtype("dst_dtype", dst_dtype);
  call.issue(LookupCmd{call.local(dst_addr, dim, type), call.local(src_addr, dim, call.dtype("src_dtype", src_dtype)),
                       on_every_npu(call, table_addr, call.in_range("len", len, 1, kMaxExtent), type)});
}

void tpu_bdc_fp_exponent_part(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dst_dtype,
                              data_type_t src_dtype) {
  const Call call(Op::tpu_bdc_fp_exponent_part);
  const Dim4 dim = call.dim("shape", shape);
  call.issue(ExponentCmd{call.local(dst_addr, dim, call.dtype("dst_dtype", dst_dtype)),
                         call.local(src_addr, dim, call.dtype("src_dtype", src_dtype))});
}

// ---- roots ----

void tpu_bdc_fp32_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape) {
  root(Call(Op::tpu_bdc_fp32_rsqrt), RootMode::kRsqrt, dst_addr, src_addr, shape, Dtype::kFp32, kNewtonSteps);
}
void tpu_bdc_fp32_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter) {
  root(Call(Op::tpu_bdc_fp32_tunable_rsqrt), RootMode::kRsqrt, dst_addr, src_addr, shape, Dtype::kFp32, num_iter);
}
void tpu_bdc_fp_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_rsqrt);
  root(call, RootMode::kRsqrt, dst_addr, src_addr, shape, quotient_type(call, dtype), kNewtonSteps);
}
void tpu_bdc_fp_tunable_rsqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype,
                              int num_iter) {
  const Call call(Op::tpu_bdc_fp_tunable_rsqrt);
  root(call, RootMode::kRsqrt, dst_addr, src_addr, shape, quotient_type(call, dtype), num_iter);
}
void tpu_bdc_fp32_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape) {
  root(Call(Op::tpu_bdc_fp32_sqrt), RootMode::kSqrt, dst_addr, src_addr, shape, Dtype::kFp32, kNewtonSteps);
}
void tpu_bdc_fp32_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, int num_iter) {
  root(Call(Op::tpu_bdc_fp32_tunable_sqrt), RootMode::kSqrt, dst_addr, src_addr, shape, Dtype::kFp32, num_iter);
}
void tpu_bdc_fp_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_sqrt);
  root(call, RootMode::kSqrt, dst_addr, src_addr, shape, quotient_type(call, dtype), kNewtonSteps);
}
void tpu_bdc_fp_tunable_sqrt(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, data_type_t dtype,
                             int num_iter) {
  const Call call(Op::tpu_bdc_fp_tunable_sqrt);
  root(call, RootMode::kSqrt, dst_addr, src_addr, shape, quotient_type(call, dtype), num_iter);
}

// ---- quotients ----

void tpu_bdc_fp32_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                      const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride) {
  const Quotient to{Call(Op::tpu_bdc_fp32_div), dst_addr, shape, dst_stride};
  to.divide(to.tensor(src0_addr, src0_stride), to.tensor(src1_addr, src1_stride));
}
void tpu_bdc_fp32_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                              const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, int num_iter) {
  const Quotient to{Call(Op::tpu_bdc_fp32_tunable_div), dst_addr, shape, dst_stride, Dtype::kFp32, num_iter};
  to.divide(to.tensor(src0_addr, src0_stride), to.tensor(src1_addr, src1_stride));
}
void tpu_bdc_fp_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                    const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_div);
  const Quotient to{call, dst_addr, shape, dst_stride, quotient_type(call, dtype)};
  to.divide(to.tensor(src0_addr, src0_stride), to.tensor(src1_addr, src1_stride));
}
void tpu_bdc_fp_tunable_div(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, const dim4* shape,
                            const dim4* dst_stride, const dim4* src0_stride, const dim4* src1_stride, data_type_t dtype,
                            int num_iter) {
  const Call call(Op::tpu_bdc_fp_tunable_div);
  const Quotient to{call, dst_addr, shape, dst_stride, quotient_type(call, dtype), num_iter};
  to.divide(to.tensor(src0_addr, src0_stride), to.tensor(src1_addr, src1_stride));
}

void tpu_bdc_fp32_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
                        const dim4* dst_stride, const dim4* src_stride) {
  const Quotient to{Call(Op::tpu_bdc_fp32_div_C), dst_addr, shape, dst_stride};
  to.divide(to.tensor(src_addr, src_stride), to.constant(C));
}
void tpu_bdc_fp32_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
                                const dim4* dst_stride, const dim4* src_stride, int num_iter) {
  const Quotient to{Call(Op::tpu_bdc_fp32_tunable_div_C), dst_addr, shape, dst_stride, Dtype::kFp32, num_iter};
  to.divide(to.tensor(src_addr, src_stride), to.constant(C));
}
void tpu_bdc_fp_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                      const dim4* dst_stride, const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_div_C);
  const Quotient to{call, dst_addr, shape, dst_stride, quotient_type(call, dtype)};
  to.divide(to.tensor(src_addr, src_stride), to.constant(C));
}
void tpu_bdc_fp_tunable_div_C(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                              const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter) {
  const Call call(Op::tpu_bdc_fp_tunable_div_C);
  const Quotient to{call, dst_addr, shape, dst_stride, quotient_type(call, dtype), num_iter};
  to.divide(to.tensor(src_addr, src_stride), to.constant(C));
}

void tpu_bdc_fp32_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
                        const dim4* dst_stride, const dim4* src_stride) {
  const Quotient to{Call(Op::tpu_bdc_fp32_C_div), dst_addr, shape, dst_stride};
  to.divide(to.constant(C), to.tensor(src_addr, src_stride));
}
void tpu_bdc_fp32_tunable_C_div(local_addr_t dst_addr, local_addr_t src_addr, float C, const dim4* shape,
                                const dim4* dst_stride, const dim4* src_stride, int num_iter) {
  const Quotient to{Call(Op::tpu_bdc_fp32_tunable_C_div), dst_addr, shape, dst_stride, Dtype::kFp32, num_iter};
  to.divide(to.constant(C), to.tensor(src_addr, src_stride));
}
void tpu_bdc_fp_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                      const dim4* dst_stride, const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_C_div);
  const Quotient to{call, dst_addr, shape, dst_stride, quotient_type(call, dtype)};
  to.divide(to.constant(C), to.tensor(src_addr, src_stride));
}
void tpu_bdc_fp_tunable_C_div(local_addr_t dst_addr, local_addr_t src_addr, scalar_t C, const dim4* shape,
                              const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter) {
  const Call call(Op::tpu_bdc_fp_tunable_C_div);
  const Quotient to{call, dst_addr, shape, dst_stride, quotient_type(call, dtype), num_iter};
  to.divide(to.constant(C), to.tensor(src_addr, src_stride));
}

// ---- reciprocals ----

void tpu_bdc_fp32_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                             const dim4* src_stride) {
  Quotient{Call(Op::tpu_bdc_fp32_reciprocal), dst_addr, shape, dst_stride}.reciprocal(src_addr, src_stride);
}
void tpu_bdc_fp32_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
                                     const dim4* dst_stride, const dim4* src_stride, int num_iter) {
  const Call call(Op::tpu_bdc_fp32_tunable_reciprocal);
  Quotient{call, dst_addr, shape, dst_stride, Dtype::kFp32, num_iter}.reciprocal(src_addr, src_stride);
}
void tpu_bdc_fp_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape, const dim4* dst_stride,
                           const dim4* src_stride, data_type_t dtype) {
  const Call call(Op::tpu_bdc_fp_reciprocal);
  Quotient{call, dst_addr, shape, dst_stride, quotient_type(call, dtype)}.reciprocal(src_addr, src_stride);
}
void tpu_bdc_fp_tunable_reciprocal(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape,
                                   const dim4* dst_stride, const dim4* src_stride, data_type_t dtype, int num_iter) {
  const Call call(Op::tpu_bdc_fp_tunable_reciprocal);
  Quotient{call, dst_addr, shape, dst_stride, quotient_type(call, dtype), num_iter}.reciprocal(src_addr, src_stride);
}

// ---- coefficients ----

void tpu_bdc_load_fp32_exp_coeff(local_addr_t coeff_addr) {
  const Call call(Op::tpu_bdc_load_fp32_exp_coeff);
  load_fp32(call, coeff_addr, static_offset::kExpCoeff, call.chip().has(Quirk::kShortCoefficients) ? 10 : 32);
}
void tpu_bdc_load_fp32_exp_table(local_addr_t table_addr) {
  const Call call(Op::tpu_bdc_load_fp32_exp_table);
  if (call.chip().has(Quirk::kShortCoefficients)) return;  // nothing reads the table there
  load_fp32(call, table_addr, static_offset::kExpTable, 192);
}
void tpu_bdc_load_fp32_log_coeff(local_addr_t coeff_addr) {
  const Call call(Op::tpu_bdc_load_fp32_log_coeff);
  load_fp32(call, coeff_addr, static_offset::kLogCoeff, call.chip().has(Quirk::kShortCoefficients) ? 16 : 32);
}
void tpu_bdc_load_fp32_erf_coeff(local_addr_t coeff_addr) {
  load_fp32(Call(Op::tpu_bdc_load_fp32_erf_coeff), coeff_addr, static_offset::kErfCoeff, 10);
}
void tpu_bdc_load_fp32_sin_coeff(local_addr_t coeff_addr) {
  load_fp32(Call(Op::tpu_bdc_load_fp32_sin_coeff), coeff_addr, static_offset::kSinCoeff, 32);
}
void tpu_bdc_load_fp32_cos_coeff(local_addr_t coeff_addr) {
  load_fp32(Call(Op::tpu_bdc_load_fp32_cos_coeff), coeff_addr, static_offset::kCosCoeff, 32);
}
void tpu_bdc_load_fp32_tan_coeff(local_addr_t coeff_addr) {
  // The emulator of 2023 loads the beginning of the exp table here (golden bm1684x/sfu_load). tpu_bdc_fp32_tan and _cot
  // therefore bring the series that they need themselves.
  const Call call(Op::tpu_bdc_load_fp32_tan_coeff);
  const bool own = call.chip().has(Quirk::kShortCoefficients);
  load_fp32(call, coeff_addr, own ? static_offset::kTanCoeff : static_offset::kExpTable, 32);
}
void tpu_bdc_load_fp32_arcsin_coeff(local_addr_t coeff_addr) {
  load_fp32(Call(Op::tpu_bdc_load_fp32_arcsin_coeff), coeff_addr, static_offset::kArcsinCoeff, 32);
}
}
