// Trigonometric functions and their inverses.
#include "device/isa/op_names.hpp"
#include "device/memory/static_tables.hpp"
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"

namespace softtpu {
namespace {

constexpr float kInverseTwoPi = 0.159154937F;
constexpr float kInversePi = 0.318309873F;
constexpr float kHalfPi = 1.57079637F;

// work = x / 2 pi less the nearest integer; the other steps of the chip follow on it.
void turn_fraction(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work) {
  s.mul_C(work, src, kInverseTwoPi);
  s.round(dst, work);
  s.sub(work, work, dst);
}

void sin_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  turn_fraction(s, dst, src, work);
  s.mul(dst, work, work);
  s.taylor(dst, dst, coeff, kFp32Terms);
  s.mul(dst, work, dst);
}

void cos_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  turn_fraction(s, dst, src, work);
  s.mul(dst, work, work);
  s.taylor(dst, dst, coeff, kFp32Terms);
}

// dst = t = tan(y / 2), work = 1 - t^2, for y = x less the nearest multiple of pi: the series converges quickly at
// half the angle. Its coefficients come from static memory, because the recorded load function brings others.
void half_tangent(const Call& call, const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work,
                  local_addr_t coeff) {
  const Tensor table = call.local(coeff, Dim4{1, call.chip().npu_num, 1, kFp32Terms}, Dtype::kFp32);
  call.core().submit(Op::tpu_bdc_load_fp32_tan_coeff,
                     StaticLoadCmd{table, Tensor{Space::kStatic, static_place(call.chip(), static_offset::kTanCoeff),
                                                 table.shape, Stride4{0, 0, 0, 1}, Dtype::kFp32, false}});
  s.mul_C(work, src, kInversePi);
  s.round(dst, work);
  s.sub(work, work, dst);
  s.mul_C(work, work, 0.5F);
  s.mul(dst, work, work);
  s.taylor(dst, dst, coeff, kFp32Terms);
  s.mul(dst, work, dst);
  s.mul(work, dst, dst);
  s.C_sub(work, 1.0F, work);
}

void old_tan_steps(const Composite& run, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  const Steps s = run.steps();
  half_tangent(run.call(), s, dst, src, work, coeff);
  s.mul_C(dst, dst, 2.0F);
  s.div(dst, dst, work);
}

void old_cot_steps(const Composite& run, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  const Steps s = run.steps();
  half_tangent(run.call(), s, dst, src, work, coeff);
  s.mul_C(dst, dst, 2.0F);
  s.div(dst, work, dst);
}

// tan(pi y) for y in work; dst is no operand. With f = y less the nearest integer and v = tan(pi / 4 - pi |f|), which
// the series gives, the result is 2 / (1 + v) - 1 with the sign of f.
void tan_of_turns(const Steps& s, local_addr_t dst, local_addr_t work, local_addr_t coeff) {
  constexpr std::uint32_t kSign = 0x80000000U;
  s.round(dst, work, RM_HALF_TO_EVEN);
  s.sub(work, work, dst);
  s.bits_and_C(dst, work, ~kSign);
  s.C_sub(dst, 0.25F, dst);
  s.mul(dst, dst, dst);
  s.taylor(dst, dst, coeff, kFp32Terms);
  // There is no third tensor for the sign of f: the series, which is positive, takes it and hands it on to the product.
  // work = 1/4 - |f|.
  s.bits_xor(dst, dst, work);
  s.bits_and_C(work, work, ~kSign);
  s.bits_xor(dst, dst, work);
  s.C_sub(work, 0.25F, work);
  s.mul(dst, dst, work);
  // work = the sign of f, dst = v.
  s.bits_xor(work, work, dst);
  s.bits_and_C(work, work, kSign);
  s.bits_xor(dst, dst, work);
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
  s.mul_C(dst, dst, 2.0F);
  s.sub_C(dst, dst, 1.0F);
  s.bits_or(dst, dst, work);
}

void tan_steps(const Composite& run, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  if (!run.has(Quirk::kExpByExponent)) return old_tan_steps(run, dst, src, work, coeff);
  const Steps s = run.steps();
  s.mul_C(work, src, kInversePi);
  tan_of_turns(s, dst, work, coeff);
}

void cot_steps(const Composite& run, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  if (!run.has(Quirk::kExpByExponent)) return old_cot_steps(run, dst, src, work, coeff);
  const Steps s = run.steps();
  s.mul_C(work, src, kInversePi);
  s.C_sub(work, 0.5F, work);
  tan_of_turns(s, dst, work, coeff);
}

// sign(x) 2 arcsin sqrt(z), z = (1 - sqrt(1 - x^2)) / 2 = y^2 / (1/2 + sqrt(1/4 - y^2)) with y = x / 2: the quotient
// keeps the digits that the difference loses for small x.
void arcsin_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  if (s.has(Quirk::kExpByExponent)) {
    // The difference itself.
    s.mul(work, src, src);
    s.mul_C(work, work, 0.25F);
    s.C_sub(work, 0.25F, work);
    s.sqrt(work, work);
    s.C_sub(work, 0.5F, work);
    s.taylor(dst, work, coeff, kFp32Terms);
    s.sqrt(work, work);
    s.mul(dst, dst, work);
    s.mul_C(dst, dst, 2.0F);
    s.sign(work, src);
    s.mul(dst, dst, work);
    return;
  }
  s.mul_C(work, src, 0.5F);
  s.mul(work, work, work);
  s.C_sub(dst, 0.25F, work);
  s.sqrt(dst, dst);
  s.add_C(dst, dst, 0.5F);
  s.div(work, work, dst);
  s.taylor(dst, work, coeff, kFp32Terms);
  s.sqrt(work, work);
  s.mul(dst, dst, work);
  s.mul_C(dst, dst, 2.0F);
  s.sign(work, src);
  s.mul(dst, dst, work);
}

void arccos_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  arcsin_steps(s, dst, src, work, coeff);
  s.C_sub(dst, kHalfPi, dst);
}

// The series of t, t = x up to 1 and 1 / x beyond, where its sum is taken from a right angle. A quotient of 0 counts as
// negative, as recorded for 1 / x that is too small.
void arctan_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t inverse,
                  local_addr_t coeff) {
  s.reciprocal(inverse, src);
  s.abs(work, src);
  s.select_above(work, work, 1.0F, tensor_variable(inverse), tensor_variable(src));
  s.mul(dst, work, work);
  s.taylor(dst, dst, coeff, kFp32Terms);
  s.mul(dst, dst, work);
  s.select_above(work, inverse, 0.0F, constant_variable(s.constant(kHalfPi)), constant_variable(s.constant(-kHalfPi)));
  s.sub(work, work, dst);
  s.abs(inverse, src);
  s.replace_above(dst, inverse, 1.0F, tensor_variable(work));
}

Composite checked(Op op, local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
                  const dim4* shape, int dtype, SourceUse use) {
  Composite run(op, shape, dtype);
  run.writes("dst", dst_addr).writes("work", work_addr).reads("src", src_addr, use);
  run.table("coeff", coeff_addr, kFp32Terms);
  return run;
}

using AngleSteps = void (*)(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff);
using TangentSteps = void (*)(const Composite& run, local_addr_t dst, local_addr_t src, local_addr_t work,
                              local_addr_t coeff);

void angle_function(Op op, AngleSteps steps, SourceUse use, local_addr_t dst, local_addr_t src, local_addr_t work,
                    local_addr_t coeff, const dim4* shape, data_type_t dtype) {
  const Composite run = checked(op, dst, src, work, coeff, shape, dtype, use);
  steps(run.steps(), dst, src, work, coeff);
}
void tangent_function(Op op, TangentSteps steps, local_addr_t dst, local_addr_t src, local_addr_t work,
                      local_addr_t coeff, const dim4* shape) {
  const bool apart = Call(op).chip().has(Quirk::kOwnInPlace);
  const SourceUse use = apart ? SourceUse::kAgain : SourceUse::kOnce;
  steps(checked(op, dst, src, work, coeff, shape, DT_FP32, use), dst, src, work, coeff);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define ANGLE_FUNCTION(name, steps, use)                                                                   \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, \
            const dim4* shape) {                                                                           \
    angle_function(Op::name, steps, use, dst_addr, src_addr, work_addr, coeff_addr, shape, DT_FP32);       \
  }
ANGLE_FUNCTION(tpu_bdc_fp32_sin, sin_steps, SourceUse::kOnce)
ANGLE_FUNCTION(tpu_bdc_fp32_cos, cos_steps, SourceUse::kOnce)
ANGLE_FUNCTION(tpu_bdc_fp32_arcsin, arcsin_steps, SourceUse::kAgain)
ANGLE_FUNCTION(tpu_bdc_fp32_arccos, arccos_steps, SourceUse::kAgain)

#define TANGENT_FUNCTION(name, steps)                                                                      \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, \
            const dim4* shape) {                                                                           \
    tangent_function(Op::name, steps, dst_addr, src_addr, work_addr, coeff_addr, shape);                   \
  }
TANGENT_FUNCTION(tpu_bdc_fp32_tan, tan_steps)
TANGENT_FUNCTION(tpu_bdc_fp32_cot, cot_steps)

#define GENERAL_ANGLE_FUNCTION(name, steps, use)                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, \
            const dim4* shape, data_type_t dtype) {                                                        \
    angle_function(Op::name, steps, use, dst_addr, src_addr, work_addr, coeff_addr, shape, dtype);         \
  }
GENERAL_ANGLE_FUNCTION(tpu_bdc_fp_sin, sin_steps, SourceUse::kOnce)
GENERAL_ANGLE_FUNCTION(tpu_bdc_fp_cos, cos_steps, SourceUse::kOnce)
// Of f32 only: the recorded chip refuses the coefficients of other types.
// In place the sign is that of the result so far (golden bm1690-varied/m_a/bdc_fp_arcsin/001).
GENERAL_ANGLE_FUNCTION(tpu_bdc_fp_arcsin, arcsin_steps, SourceUse::kToDst)
GENERAL_ANGLE_FUNCTION(tpu_bdc_fp_arccos, arccos_steps, SourceUse::kToDst)

void tpu_bdc_fp_arctan(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t work2_addr,
                       local_addr_t coeff_addr, const dim4* shape, data_type_t dtype) {
  Composite run(Op::tpu_bdc_fp_arctan, shape, dtype);
  run.writes("dst", dst_addr).writes("work", work_addr).writes("work2", work2_addr);
  run.reads("src", src_addr, SourceUse::kAgain).table("coeff", coeff_addr, kFp32Terms);
  arctan_steps(run.steps(), dst_addr, src_addr, work_addr, work2_addr, coeff_addr);
}
}
