// exp, expm1, sigmoid, tanh and the hyperbolic functions.
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"

namespace softtpu {
namespace {

// The table holds e^-103 ... e^88.
constexpr float kLowest = -103.0F;
constexpr float kHighest = 88.0F;

// ln 2 as a sum whose parts, times an exponent of the type, are exact, and a rest: subtracting k * ln 2 part by part
// loses nothing but the rounding of the rest. f16 and f32 have room for the first three parts in one.
constexpr float kInverseLn2 = 1.44269504F;
constexpr float kLn2 = 0.693147182F;
// Where the exponential is put together from its exponent: the bound of the argument, and that of the exponents of 2.
constexpr float kLargest = 3.40282e35F;
constexpr float kHighestExponent = 127.0F;
// From here on the hyperbolic tangent is taken as 1.
constexpr float kTanhLimit = 40.0F;
constexpr float kLn2Parts[] = {0.5F, 0.125F, 0.0625F};
constexpr float kLn2Head = 0.6875F;
constexpr float kLn2Rest = 0.00564718056F;

// Arguments outside of these give 0 or infinity; the exponents of 2 that the result is built with.
struct ExpRange {
  float lowest, highest;
  float lowest_exponent, highest_exponent;
};
constexpr ExpRange exp_range(Dtype type) {
  if (type == Dtype::kFp16) return {-18.0F, 12.0F, -26.0F, 15.0F};
  return {-88.0F, 89.0F, -127.0F, 127.0F};
}

constexpr float kLowestNormalFp16 = -14.0F;

// The largest argument whose exponential is finite: 1 / infinity is not 0 on this chip.
constexpr float finite_limit(Dtype type) { return type == Dtype::kFp16 ? 11.0F : 88.0F; }

}  // namespace

Composite exp_call(Op op, local_addr_t dst, local_addr_t src, SourceUse use, const ExpBuffers& b, const dim4* shape) {
  Composite run(op, shape);
  run.writes("dst", dst).writes("work0", b.work0).writes("work1", b.work1).reads("src", src, use);
  run.table("coeff", b.coeff, exp_coefficients(run));
  exp_table(run, "table", b.table);
  return run;
}

namespace {

// e^x = 2^k e^(x - k ln 2), k = floor(x / ln 2).
void exp_by_exponent(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.max_C(b.work0, src, -kLargest);
  s.min_C(b.work0, b.work0, kLargest);
  s.mul_C(b.work1, b.work0, kInverseLn2);
  s.floor(b.work1, b.work1);
  s.mul_C(dst, b.work1, kLn2);
  s.sub(b.work0, b.work0, dst);
  s.taylor(dst, b.work0, b.coeff, exp_terms(Dtype::kFp32));
  s.max_C(b.work1, b.work1, -kHighestExponent);
  s.min_C(b.work1, b.work1, kHighestExponent);
  s.power_of_two(b.work1, b.work1);
  s.mul(dst, dst, b.work1);
}

}  // namespace

void exp_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  if (s.has(ChipRule::kExpByExponent)) return exp_by_exponent(s, dst, src, b);
  s.max_C(b.work0, src, kLowest);
  s.min_C(b.work0, b.work0, kHighest);
  s.round(b.work1, b.work0);
  s.sub(b.work0, b.work0, b.work1);
  scalar_t first{};
  first.s32 = -static_cast<int>(kLowest);
  tpu_bdc_cast(dst, b.work1, s.shape(), nullptr, nullptr, DT_INT16, DT_FP32, RM_TOWARDS_ZERO);
  tpu_bdc_int_add_C(dst, dst, first, s.shape(), nullptr, nullptr, DT_INT16, DT_INT16, DT_INT16, 0, RM_HALF_TO_EVEN,
                    false);
  // A maximum is never NaN where one operand is a number, so every index is in 0..191.
  s.lookup(b.work1, dst, b.table, kExpTableLength);
  s.taylor(dst, b.work0, b.coeff, kFp32Terms);
  s.mul(dst, dst, b.work1);
}

void expm1_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  exp_steps(s, dst, src, b);
  s.sub_C(dst, dst, 1.0F);
}

void sigmoid_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.C_sub(dst, 0.0F, src);
  exp_steps(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
}

void tanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  const bool limited = s.has(ChipRule::kExpByExponent);
  if (limited) {
    // The bound is put on the argument, where the quotient is 1 already: src may be dst.
    s.max_C(dst, src, -kLargest);
    s.min_C(dst, dst, kTanhLimit);
    s.mul_C(dst, dst, 2.0F);
    exp_steps(s, dst, dst, b);
  } else {
    exp_steps(s, dst, src, b);
    s.mul(dst, dst, dst);
  }
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
  s.scale_bias_C(dst, dst, -2.0F, 1.0F);
}

int exp_terms(Dtype type) { return type == Dtype::kFp32 ? 10 : 7; }

void general_exp_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  const ExpRange range = exp_range(s.type());
  s.max_C(b.work0, src, range.lowest);
  s.min_C(b.work0, b.work0, range.highest);
  // work1 = k = floor(x / ln 2), work0 = x - k ln 2.
  s.mul_C(b.work1, b.work0, kInverseLn2);
  s.floor(b.work1, b.work1);
  s.max_C(b.work1, b.work1, range.lowest_exponent);
  s.min_C(b.work1, b.work1, range.highest_exponent);
  const auto subtract = [&](float part) {
    s.mul_C(dst, b.work1, part);
    s.sub(b.work0, b.work0, dst);
  };
  if (s.type() == Dtype::kBfp16) {
    for (const float part : kLn2Parts) subtract(part);
  } else {
    subtract(kLn2Head);
  }
  subtract(kLn2Rest);
  s.taylor(dst, b.work0, b.coeff, exp_terms(s.type()));
  if (s.type() == Dtype::kFp16) {
    // f16 has subnormal results: what the exponent of a normal number cannot take is a second factor.
    s.max_C(b.work0, b.work1, kLowestNormalFp16);
    s.sub(b.work1, b.work1, b.work0);
    s.power_of_two(b.work0, b.work0);
    s.mul(dst, dst, b.work0);
  }
  s.power_of_two(b.work1, b.work1);
  s.mul(dst, dst, b.work1);
}

void general_sigmoid_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.C_sub(dst, 0.0F, src);
  s.min_C(dst, dst, finite_limit(s.type()));
  general_exp_steps(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
}

namespace {

// e^|x| in dst; the sign is left to the caller.
void exp_abs(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.abs(b.work0, src);
  exp_steps(s, dst, b.work0, b);
}

void sinh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  exp_abs(s, dst, src, b);
  s.reciprocal(b.work0, dst);
  s.sub(dst, dst, b.work0);
  s.mul_C(dst, dst, 0.5F);
  s.sign(b.work0, src);
  s.mul(dst, dst, b.work0);
}

void cosh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  exp_abs(s, dst, src, b);
  s.reciprocal(b.work0, dst);
  s.add(dst, dst, b.work0);
  s.mul_C(dst, dst, 0.5F);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define EXP_FUNCTION(name, body, use)                                                                       \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr, \
            local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape) {                          \
    const ExpBuffers buffers{work0_addr, work1_addr, coeff_addr, table_addr};                               \
    body(exp_call(Op::name, dst_addr, src_addr, use, buffers, shape).steps(), dst_addr, src_addr, buffers); \
  }
EXP_FUNCTION(tpu_bdc_fp32_exp, exp_steps, SourceUse::kOnce)
EXP_FUNCTION(tpu_bdc_fp32_expm1, expm1_steps, SourceUse::kOnce)
EXP_FUNCTION(tpu_bdc_fp32_sigmoid, sigmoid_steps, SourceUse::kOnce)
EXP_FUNCTION(tpu_bdc_fp32_tanh, tanh_steps, SourceUse::kOnce)
EXP_FUNCTION(tpu_bdc_fp32_sinh, sinh_steps, SourceUse::kAgain)
EXP_FUNCTION(tpu_bdc_fp32_cosh, cosh_steps, SourceUse::kOnce)

void tpu_bdc_fp_exp(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                    local_addr_t coeff_addr, const dim4* shape, data_type_t dtype) {
  Composite run(Op::tpu_bdc_fp_exp, shape, dtype);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr);
  run.reads("src", src_addr, SourceUse::kOnce).table("coeff", coeff_addr, exp_terms(run.dtype()));
  general_exp_steps(run.steps(), dst_addr, src_addr, {work0_addr, work1_addr, coeff_addr, 0});
}

void tpu_bdc_fp_expm1(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                      local_addr_t coeff_addr, const dim4* shape, data_type_t dtype) {
  Composite run(Op::tpu_bdc_fp_expm1, shape, dtype);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr);
  run.reads("src", src_addr, SourceUse::kOnce).table("coeff", coeff_addr, exp_terms(run.dtype()));
  const Steps s = run.steps();
  general_exp_steps(s, dst_addr, src_addr, {work0_addr, work1_addr, coeff_addr, 0});
  s.sub_C(dst_addr, dst_addr, 1.0F);
}

void tpu_bdc_fp_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                        local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype) {
  // The exponential of any type needs no table.
  Composite run(Op::tpu_bdc_fp_sigmoid, shape, dtype);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr);
  run.reads("src", src_addr, SourceUse::kOnce).table("coeff", coeff_addr, exp_terms(run.dtype()));
  general_sigmoid_steps(run.steps(), dst_addr, src_addr, {work0_addr, work1_addr, coeff_addr, table_addr});
}
}
