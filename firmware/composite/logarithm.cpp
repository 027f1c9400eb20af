// Logarithms, powers, and the functions that are logarithms of roots.
#include <cmath>
#include <cstdint>
#include <limits>

#include "device/isa/op_names.hpp"
#include "device/numeric/float_unit.hpp"
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"

namespace softtpu {

int log_terms(Dtype type) { return type == Dtype::kFp32 ? kFp32Terms : 8; }

namespace {

using LogSteps = void (*)(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff,
                          LogOfZero zero);

float smallest_normal(Dtype type) { return type == Dtype::kFp16 ? 0x1p-14F : std::numeric_limits<float>::min(); }

}  // namespace

// With y = max(x, the smallest normal number), log y = log(y / p) + (e - bias) ln 2, p = 2^e the nearest power of two,
// 1 / p by integer arithmetic. +Inf gives itself.
void general_log_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff,
                       LogOfZero zero) {
  const float infinity = std::numeric_limits<float>::infinity();
  // The sum of the bits of p and 1 / p.
  const auto two_one = static_cast<std::uint32_t>(2 * s.exponent_bias()) << static_cast<unsigned>(s.mantissa_bits());
  s.max_C(work, src, smallest_normal(s.type()));
  s.power_of_two_part(work, work);
  s.integer_C_sub(work, two_one, work);
  // An infinite quotient stays infinite through the series: src may be dst, so nothing is left to look at afterwards.
  if (zero == LogOfZero::kInfinite && s.type() == Dtype::kFp32) s.replace_at(work, src, 0.0F, -infinity);
  s.replace_at(work, src, infinity, 1.0F);
  s.max_C(dst, src, smallest_normal(s.type()));
  s.mul(dst, dst, work);
  s.sub_C(dst, dst, 1.0F);
  s.taylor(dst, dst, coeff, log_terms(s.type()));
  s.integer_C_sub(work, two_one, work);
  s.exponent(work, work);
  s.sub_C(work, work, static_cast<float>(s.exponent_bias()));
  s.mul_C(work, work, kLn2);
  s.add(dst, dst, work);
}

namespace {

// log x = log(x / p) + e ln 2, p = 2^e the nearest power of two. The recorded emulator leaves the format's bias in e
// (README.md, "Where the recording is not followed").
void log_by_division(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  s.power_of_two_part(work, src);
  s.div(dst, src, work);
  s.sub_C(dst, dst, 1.0F);
  s.taylor(dst, dst, coeff, log_terms(s.type()));
  s.exponent(work, work);
  s.sub_C(work, work, static_cast<float>(s.exponent_bias()));
  s.mul_C(work, work, kLn2);
  s.add(dst, dst, work);
}

}  // namespace

void log_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff,
               LogOfZero zero) {
  if (s.has(Quirk::kExpByExponent)) return general_log_steps(s, dst, src, work, coeff, zero);
  log_by_division(s, dst, src, work, coeff);
}

void log1p_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  s.add_C(dst, src, 1.0F);
  log_steps(s, dst, dst, work, coeff, LogOfZero::kFinite);
}

namespace {

void fp32_log_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  log_steps(s, dst, src, work, coeff);
}

// log(x + sqrt(x^2 + square)), with 1 the inverse of sinh, with -1 that of cosh
void log_of_root(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff,
                 float square) {
  s.mul(work, src, src);
  s.add_C(work, work, square);
  s.sqrt(work, work);
  s.add(dst, src, work);
  log_steps(s, dst, dst, work, coeff, LogOfZero::kFinite);
}

void arcsinh_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  log_of_root(s, dst, src, work, coeff, 1.0F);
}

void arccosh_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  log_of_root(s, dst, src, work, coeff, -1.0F);
}

// log((1 + x) / (1 - x)) / 2
void half_log_of_quotient(const Steps& s, LogSteps log, local_addr_t dst, local_addr_t src, local_addr_t work,
                          local_addr_t coeff) {
  s.C_sub(work, 1.0F, src);
  s.add_C(dst, src, 1.0F);
  s.div(dst, dst, work);
  log(s, dst, dst, work, coeff, LogOfZero::kFinite);
  s.mul_C(dst, dst, 0.5F);
}

void arctanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  half_log_of_quotient(s, log_steps, dst, src, work, coeff);
}
void fp_log_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  general_log_steps(s, dst, src, work, coeff);
}
void fp_arctanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff) {
  half_log_of_quotient(s, general_log_steps, dst, src, work, coeff);
}

using LogBody = void (*)(const Steps& s, local_addr_t dst, local_addr_t src, local_addr_t work, local_addr_t coeff);

// An f32 function, or one of any float type with the terms that its type needs.
void log_function(Op op, LogBody steps, SourceUse use, local_addr_t dst, local_addr_t src, local_addr_t work,
                  local_addr_t coeff, const dim4* shape) {
  Composite run(op, shape);
  run.writes("dst", dst).writes("work", work).reads("src", src, use);
  run.table("coeff", coeff, kFp32Terms);
  steps(run.steps(), dst, src, work, coeff);
}
void general_log_function(Op op, LogBody steps, local_addr_t dst, local_addr_t src, local_addr_t work,
                          local_addr_t coeff, const dim4* shape, data_type_t dtype) {
  Composite run(op, shape, dtype);
  run.writes("dst", dst).writes("work", work).reads("src", src, SourceUse::kOnce);
  run.table("coeff", coeff, log_terms(run.dtype()));
  steps(run.steps(), dst, src, work, coeff);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define LOG_FUNCTION(name, steps, use)                                                                     \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, \
            const dim4* shape) {                                                                           \
    log_function(Op::name, steps, use, dst_addr, src_addr, work_addr, coeff_addr, shape);                  \
  }
LOG_FUNCTION(tpu_bdc_fp32_log, fp32_log_steps, SourceUse::kOnce)
LOG_FUNCTION(tpu_bdc_fp32_log1p, log1p_steps, SourceUse::kOnce)
LOG_FUNCTION(tpu_bdc_fp32_arcsinh, arcsinh_steps, SourceUse::kToDst)
LOG_FUNCTION(tpu_bdc_fp32_arccosh, arccosh_steps, SourceUse::kToDst)
LOG_FUNCTION(tpu_bdc_fp32_arctanh, arctanh_steps, SourceUse::kOnce)

#define GENERAL_LOG_FUNCTION(name, steps)                                                                  \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr, \
            const dim4* shape, data_type_t dtype) {                                                        \
    general_log_function(Op::name, steps, dst_addr, src_addr, work_addr, coeff_addr, shape, dtype);        \
  }
GENERAL_LOG_FUNCTION(tpu_bdc_fp_log, fp_log_steps)
GENERAL_LOG_FUNCTION(tpu_bdc_fp_arctanh, fp_arctanh_steps)

void tpu_bdc_fp32_logx(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work_addr, local_addr_t coeff_addr,
                       const dim4* shape, float x) {
  Composite run(Op::tpu_bdc_fp32_logx, shape);
  run.writes("dst", dst_addr).writes("work", work_addr).reads("src", src_addr, SourceUse::kOnce);
  run.table("coeff", coeff_addr, kFp32Terms);
  if (run.has(Quirk::kPositiveBase)) {
    run.call().require(x >= std::numeric_limits<float>::min(),
                       "{argument} ({value}) is not a normal number above {limit}.", "x", x, 0);
  }
  const Steps s = run.steps();
  log_steps(s, dst_addr, src_addr, work_addr, coeff_addr);
  s.mul_C(dst_addr, dst_addr, static_cast<float>(1.0 / std::log(static_cast<double>(x))));
}

void tpu_bdc_fp32_pow(local_addr_t dst_addr, local_addr_t src0_addr, local_addr_t src1_addr, local_addr_t work0_addr,
                      local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr,
                      local_addr_t exp_table_addr, const dim4* shape) {
  Composite run(Op::tpu_bdc_fp32_pow, shape);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr);
  const bool own_in_place = run.has(Quirk::kOwnInPlace);
  run.reads("src0", src0_addr, SourceUse::kOnce);
  run.reads("src1", src1_addr, own_in_place ? SourceUse::kToDst : SourceUse::kAgain);
  run.table("exp_coeff", exp_coeff_addr, exp_coefficients(run)).table("log_coeff", log_coeff_addr, kFp32Terms);
  exp_table(run, "exp_table", exp_table_addr);
  const Steps s = run.steps();
  const local_addr_t logarithm = src1_addr == dst_addr ? work1_addr : dst_addr;
  log_steps(s, logarithm, src0_addr, work0_addr, log_coeff_addr);
  s.mul(dst_addr, logarithm, src1_addr);
  exp_steps(s, dst_addr, dst_addr, {work0_addr, work1_addr, exp_coeff_addr, exp_table_addr});
}

void tpu_bdc_fp32_pow_C(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                        local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, local_addr_t exp_table_addr, float C,
                        const dim4* shape) {
  Composite run(Op::tpu_bdc_fp32_pow_C, shape);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr);
  run.reads("src", src_addr, SourceUse::kOnce);
  run.table("exp_coeff", exp_coeff_addr, exp_coefficients(run)).table("log_coeff", log_coeff_addr, kFp32Terms);
  exp_table(run, "exp_table", exp_table_addr);
  const Steps s = run.steps();
  log_steps(s, dst_addr, src_addr, work0_addr, log_coeff_addr);
  s.mul_C(dst_addr, dst_addr, C);
  exp_steps(s, dst_addr, dst_addr, {work0_addr, work1_addr, exp_coeff_addr, exp_table_addr});
}

void tpu_bdc_fp32_C_pow(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                        local_addr_t exp_coeff_addr, local_addr_t exp_table_addr, float C, const dim4* shape) {
  Composite run(Op::tpu_bdc_fp32_C_pow, shape);
  run.writes("dst", dst_addr).writes("work0", work0_addr).writes("work1", work1_addr);
  run.reads("src", src_addr, SourceUse::kOnce);
  run.table("exp_coeff", exp_coeff_addr, exp_coefficients(run));
  exp_table(run, "exp_table", exp_table_addr);
  const Steps s = run.steps();
  // A subnormal base counts as 0 (golden bm1688-varied/m_a/bdc_fp32_C_pow/002).
  s.mul_C(dst_addr, src_addr, static_cast<float>(std::log(static_cast<double>(flush(C)))));
  exp_steps(s, dst_addr, dst_addr, {work0_addr, work1_addr, exp_coeff_addr, exp_table_addr});
}
}
