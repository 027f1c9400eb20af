// Error function and the activation that is made of it.
#include "device/isa/op_names.hpp"
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"

namespace softtpu {

// 1 - t exp(P(t) - x^2) with t = 1 / (1 + |x| / 2), times the sign of x.
void erf_steps(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ErfBuffers& b) {
  s.abs(b.work2, src);
  s.mul_C(b.work2, b.work2, 0.5F);
  s.add_C(b.work2, b.work2, 1.0F);
  s.reciprocal(b.work2, b.work2);
  s.taylor(dst, b.work2, b.coeff, kErfTerms);
  s.mul(b.exp.work0, src, src);
  s.sub(dst, dst, b.exp.work0);
  exp(s, dst, dst, b.exp);
  s.mul(dst, dst, b.work2);
  s.C_sub(dst, 1.0F, dst);
  s.sign(b.exp.work0, src);
  s.mul(dst, dst, b.exp.work0);
}

namespace {

constexpr float kInverseSqrt2 = 0.707106769F;

struct ErfAddresses {
  local_addr_t dst, src, work0, work1, work2, exp_coeff, erf_coeff;
};

// Checks what all functions of this file share.
void check(Composite& run, const ErfAddresses& a, int exp_coefficients) {
  run.writes("dst", a.dst).writes("work0", a.work0).writes("work1", a.work1).writes("work2", a.work2);
  run.reads("src", a.src, SourceUse::kAgain);
  run.table("exp_coeff", a.exp_coeff, exp_coefficients).table("erf_coeff", a.erf_coeff, kErfTerms);
}

ErfBuffers buffers(const ErfAddresses& a, local_addr_t table) {
  return {{a.work0, a.work1, a.exp_coeff, table}, a.work2, a.erf_coeff};
}

void gelu_steps(const Steps& s, ExpSteps exp, local_addr_t work3, const ErfAddresses& a, local_addr_t table) {
  s.mul_C(work3, a.src, kInverseSqrt2);
  erf_steps(s, exp, a.dst, work3, buffers(a, table));
  s.add_C(a.dst, a.dst, 1.0F);
  s.mul_C(a.dst, a.dst, 0.5F);
  s.mul(a.dst, a.dst, a.src);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void tpu_bdc_fp32_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                      local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
                      local_addr_t exp_table_addr, const dim4* shape) {
  const ErfAddresses a{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, exp_coeff_addr, erf_coeff_addr};
  Composite run(Op::tpu_bdc_fp32_erf, shape);
  check(run, a, exp_coefficients(run));
  exp_table(run, "exp_table", exp_table_addr);
  erf_steps(run.steps(), exp_steps, dst_addr, src_addr, buffers(a, exp_table_addr));
}

void tpu_bdc_fp_erf(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                    local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
                    const dim4* shape, data_type_t dtype) {
  const ErfAddresses a{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, exp_coeff_addr, erf_coeff_addr};
  Composite run(Op::tpu_bdc_fp_erf, shape, dtype);
  check(run, a, exp_terms(run.dtype()));
  erf_steps(run.steps(), general_exp_steps, dst_addr, src_addr, buffers(a, 0));
}

void tpu_bdc_fp32_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                       local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
                       local_addr_t exp_table_addr, const dim4* shape) {
  const ErfAddresses a{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, exp_coeff_addr, erf_coeff_addr};
  Composite run(Op::tpu_bdc_fp32_erfc, shape);
  check(run, a, exp_coefficients(run));
  exp_table(run, "exp_table", exp_table_addr);
  const Steps s = run.steps();
  erf_steps(s, exp_steps, dst_addr, src_addr, buffers(a, exp_table_addr));
  s.C_sub(dst_addr, 1.0F, dst_addr);
}

void tpu_bdc_fp_erfc(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                     local_addr_t work2_addr, local_addr_t exp_coeff_addr, local_addr_t erf_coeff_addr,
                     const dim4* shape, data_type_t dtype) {
  const ErfAddresses a{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, exp_coeff_addr, erf_coeff_addr};
  Composite run(Op::tpu_bdc_fp_erfc, shape, dtype);
  check(run, a, exp_terms(run.dtype()));
  const Steps s = run.steps();
  erf_steps(s, general_exp_steps, dst_addr, src_addr, buffers(a, 0));
  s.C_sub(dst_addr, 1.0F, dst_addr);
}

void tpu_bdc_fp32_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                       local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr,
                       local_addr_t erf_coeff_addr, local_addr_t exp_table_addr, const dim4* shape) {
  const ErfAddresses a{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, exp_coeff_addr, erf_coeff_addr};
  Composite run(Op::tpu_bdc_fp32_gelu, shape);
  run.writes("work3", work3_addr);
  check(run, a, exp_coefficients(run));
  exp_table(run, "exp_table", exp_table_addr);
  gelu_steps(run.steps(), exp_steps, work3_addr, a, exp_table_addr);
}

void tpu_bdc_fp_gelu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                     local_addr_t work2_addr, local_addr_t work3_addr, local_addr_t exp_coeff_addr,
                     local_addr_t erf_coeff_addr, const dim4* shape, data_type_t dtype) {
  const ErfAddresses a{dst_addr, src_addr, work0_addr, work1_addr, work2_addr, exp_coeff_addr, erf_coeff_addr};
  Composite run(Op::tpu_bdc_fp_gelu, shape, dtype);
  run.writes("work3", work3_addr);
  check(run, a, exp_terms(run.dtype()));
  gelu_steps(run.steps(), general_exp_steps, work3_addr, a, 0);
}
}
