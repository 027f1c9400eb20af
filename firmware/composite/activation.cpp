// Activation functions.
#include <bit>

#include "device/isa/op_names.hpp"
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"

namespace softtpu {
namespace {

constexpr float kSeluAlpha = 1.67326319F;
constexpr float kSeluScale = 1.05070102F;
constexpr float kGeluCubic = 0.0447149985F;
constexpr float kGeluScale = 0.797884583F;
constexpr float kGeluSigmoid = 1.702F;
// tanh(log(1 + e^x)) is 1 in f32 from here on, and (e^x + 1)^2 is still finite.
constexpr float kMishLimit = 43.0F;
// The same for e^x itself.
constexpr float kMishExpLimit = 1e10F;
// Where chips that have a limit take softplus as x.
constexpr float kLinearLimit = 20.0F;

void silu_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  sigmoid_steps(s, exp_steps, dst, src, b);
  s.mul(dst, dst, src);
}

// x > 0 ? x : alpha (e^x - 1)
void elu_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b, float alpha) {
  expm1_steps(s, dst, src, b);
  s.mul_C(dst, dst, alpha);
  s.select_positive(dst, src, src, dst);
}

void selu_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  elu_steps(s, dst, src, b, kSeluAlpha);
  s.mul_C(dst, dst, kSeluScale);
}

// x (1 + tanh(0.7979 (x + 0.0447 x^3))) / 2
void gelu_fast_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  if (s.has(Quirk::kHalfBeforeGelu)) {
    s.mul_C(dst, src, kGeluCubic);
    s.mul(dst, dst, src);
    s.mul(dst, dst, src);
  } else {
    s.mul(dst, src, src);
    s.mul(dst, dst, src);
    s.mul_C(dst, dst, kGeluCubic);
  }
  s.add(dst, dst, src);
  s.mul_C(dst, dst, kGeluScale);
  tanh_steps(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  if (s.has(Quirk::kHalfBeforeGelu)) {
    s.mul_C(b.work0, src, 0.5F);
    s.mul(dst, dst, b.work0);
    return;
  }
  s.mul(dst, dst, src);
  s.mul_C(dst, dst, 0.5F);
}

// As gelu_fast_steps, in any type: halved last on every chip.
void general_gelu_fast_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.mul(dst, src, src);
  s.mul(dst, dst, src);
  s.mul_C(dst, dst, kGeluCubic);
  s.add(dst, dst, src);
  s.mul_C(dst, dst, kGeluScale);
  general_tanh_steps(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  s.mul(dst, dst, src);
  s.mul_C(dst, dst, 0.5F);
}

// x sigmoid(1.702 x)
void gelu_by_sigmoid_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.mul_C(dst, src, kGeluSigmoid);
  sigmoid_steps(s, general_exp_steps, dst, dst, b);
  s.mul(dst, dst, src);
}

void general_silu_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  sigmoid_steps(s, general_exp_steps, dst, src, b);
  s.mul(dst, dst, src);
}

// x tanh(log(1 + e^x)) = x (1 - 2 / ((e^x + 1)^2 + 1)). The recorded emulator leaves the reciprocal out.
void mish_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  if (s.has(Quirk::kExpByExponent)) {
    // What the exponential of a huge number leaves, NaN among it, ends between 0 and the limit.
    exp_steps(s, dst, src, b);
    s.max_C(dst, dst, 0.0F);
    s.min_C(dst, dst, kMishExpLimit);
    s.add_C(dst, dst, 1.0F);
    s.mul(dst, dst, dst);
    s.add_C(dst, dst, 1.0F);
    s.reciprocal(dst, dst);
    s.mul(dst, src, dst);
    s.mul_C(dst, dst, 2.0F);
    s.sub(dst, src, dst);
    return;
  }
  s.min_C(dst, src, kMishLimit);
  exp_steps(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  s.mul(dst, dst, dst);
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
  s.scale_bias_C(dst, dst, -2.0F, 1.0F);
  s.mul(dst, src, dst);
}

// log(1 + e^x), for x in dst already. By table the exponential ends at e^88; the caller puts x itself where that is
// larger.
void log1p_exp_steps(const Steps& s, local_addr_t dst, const ExpBuffers& b, local_addr_t log_coeff) {
  exp_steps(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  log_steps(s, dst, dst, b.work0, log_coeff);
}

// log(1 + e^(beta x)) / (1 / beta) as recorded: the last factor is a divisor, so beta counts twice.
void softplus_by_exponent(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b,
                          local_addr_t log_coeff, float beta) {
  if (beta == 1.0F) {
    general_exp_steps(s, dst, src, b);
  } else {
    s.mul_C(dst, src, beta);
    general_exp_steps(s, dst, dst, b);
  }
  s.add_C(dst, dst, 1.0F);
  general_log_steps(s, dst, dst, b.work0, log_coeff);
  if (beta != 1.0F) s.div_C(dst, dst, static_cast<float>(1.0 / static_cast<double>(beta)));
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define ACTIVATION(name, steps)                                                                             \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr, \
            local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape) {                          \
    exp_function(Op::name, steps, SourceUse::kAgain, dst_addr, src_addr,                                    \
                 {work0_addr, work1_addr, coeff_addr, table_addr}, shape);                                  \
  }
ACTIVATION(tpu_bdc_fp32_silu, silu_steps)
ACTIVATION(tpu_bdc_fp32_selu, selu_steps)
ACTIVATION(tpu_bdc_fp32_gelu_fast, gelu_fast_steps)
ACTIVATION(tpu_bdc_fp32_mish, mish_steps)

void tpu_bdc_fp32_elu(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                      local_addr_t coeff_addr, local_addr_t table_addr, float alpha, const dim4* shape) {
  const ExpBuffers buffers{work0_addr, work1_addr, coeff_addr, table_addr};
  const Composite run = exp_call(Op::tpu_bdc_fp32_elu, dst_addr, src_addr, SourceUse::kAgain, buffers, shape);
  elu_steps(run.steps(), dst_addr, src_addr, buffers, alpha);
}

void tpu_bdc_fp32_swish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                        local_addr_t coeff_addr, local_addr_t table_addr, float beta, const dim4* shape) {
  const ExpBuffers buffers{work0_addr, work1_addr, coeff_addr, table_addr};
  const Composite run = exp_call(Op::tpu_bdc_fp32_swish, dst_addr, src_addr, SourceUse::kAgain, buffers, shape);
  const Steps s = run.steps();
  s.mul_C(dst_addr, src_addr, beta);
  sigmoid_steps(s, exp_steps, dst_addr, dst_addr, buffers);
  s.mul(dst_addr, dst_addr, src_addr);
}

void tpu_bdc_fp32_softplus(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
                           local_addr_t work1_addr, local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr,
                           local_addr_t exp_table_addr, const dim4* shape, float beta) {
  const ExpBuffers buffers{work0_addr, work1_addr, exp_coeff_addr, exp_table_addr};
  const bool in_place = Call(Op::tpu_bdc_fp32_softplus).chip().has(Quirk::kOwnInPlace);
  const SourceUse use = in_place ? SourceUse::kToDst : SourceUse::kAgain;
  Composite run = exp_call(Op::tpu_bdc_fp32_softplus, dst_addr, src_addr, use, buffers, shape);
  run.table("log_coeff", log_coeff_addr, kFp32Terms);
  const Steps s = run.steps();
  if (run.has(Quirk::kExpByExponent)) {
    softplus_by_exponent(s, dst_addr, src_addr, buffers, log_coeff_addr, beta);
    if (run.has(Quirk::kSoftplusLimit)) s.replace_above(dst_addr, src_addr, kLinearLimit, tensor_variable(src_addr));
    return;
  }
  s.mul_C(dst_addr, src_addr, beta);
  log1p_exp_steps(s, dst_addr, buffers, log_coeff_addr);
  s.div_C(dst_addr, dst_addr, beta);
  if (beta > 0.0F) s.max(dst_addr, dst_addr, src_addr);
  if (beta < 0.0F) s.min(dst_addr, dst_addr, src_addr);
}

void tpu_bdc_fp32_log_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
                              local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t table_addr,
                              local_addr_t ln_coeff_addr, const dim4* shape) {
  const ExpBuffers buffers{work0_addr, work1_addr, coeff_addr, table_addr};
  Composite run = exp_call(Op::tpu_bdc_fp32_log_sigmoid, dst_addr, src_addr, SourceUse::kAgain, buffers, shape);
  run.table("ln_coeff", ln_coeff_addr, kFp32Terms);
  const Steps s = run.steps();
  exp_steps(s, dst_addr, src_addr, buffers);
  s.add_C(dst_addr, dst_addr, 1.0F);
  log_steps(s, dst_addr, dst_addr, buffers.work0, ln_coeff_addr);
  s.sub(dst_addr, src_addr, dst_addr);
}

#define GENERAL_ACTIVATION(name, steps)                                                                     \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr, \
            local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype) {       \
    general_exp_function(Op::name, steps, SourceUse::kAgain, dst_addr, src_addr,                            \
                         {work0_addr, work1_addr, coeff_addr, table_addr}, shape, dtype);                   \
  }
GENERAL_ACTIVATION(tpu_bdc_fp_silu, general_silu_steps)
GENERAL_ACTIVATION(tpu_bdc_fp_gelu_fast, general_gelu_fast_steps)
GENERAL_ACTIVATION(tpu_bdc_fp_gelu_fast2, gelu_by_sigmoid_steps)

void tpu_bdc_fp_softplus(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                         local_addr_t exp_coeff_addr, local_addr_t log_coeff_addr, const dim4* shape, float beta,
                         data_type_t dtype) {
  const ExpBuffers buffers{work0_addr, work1_addr, exp_coeff_addr, 0};
  Composite run = general_exp_call(Op::tpu_bdc_fp_softplus, dst_addr, src_addr, SourceUse::kOnce, buffers, shape, dtype,
                                   "exp_coeff");
  run.table("log_coeff", log_coeff_addr, log_terms(run.dtype()));
  softplus_by_exponent(run.steps(), dst_addr, src_addr, buffers, log_coeff_addr, beta);
}

// x - log(1 + e^x)
void tpu_bdc_fp_log_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr,
                            local_addr_t work1_addr, local_addr_t coeff_addr, local_addr_t ln_coeff_addr,
                            const dim4* shape, data_type_t dtype) {
  const ExpBuffers buffers{work0_addr, work1_addr, coeff_addr, 0};
  Composite run =
      general_exp_call(Op::tpu_bdc_fp_log_sigmoid, dst_addr, src_addr, SourceUse::kAgain, buffers, shape, dtype);
  run.table("ln_coeff", ln_coeff_addr, log_terms(run.dtype()));
  const Steps s = run.steps();
  general_exp_steps(s, dst_addr, src_addr, buffers);
  s.add_C(dst_addr, dst_addr, 1.0F);
  general_log_steps(s, dst_addr, dst_addr, work0_addr, ln_coeff_addr);
  s.sub(dst_addr, src_addr, dst_addr);
}

void tpu_bdc_fp32_softsign(local_addr_t dst_addr, local_addr_t src_addr, const dim4* shape) {
  Composite run(Op::tpu_bdc_fp32_softsign, shape);
  run.writes("dst", dst_addr).reads("src", src_addr, SourceUse::kAgain);
  const Steps s = run.steps();
  s.abs(dst_addr, src_addr);
  s.add_C(dst_addr, dst_addr, 1.0F);
  s.div(dst_addr, src_addr, dst_addr);
}

// min(max(alpha x + beta, 0), 1)
void tpu_bdc_fp_hsigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
                         float alpha, float beta, data_type_t dtype) {
  Composite run(Op::tpu_bdc_fp_hsigmoid, shape, dtype);
  run.writes("dst", dst_addr).writes("work0", work0_addr).reads("src", src_addr, SourceUse::kOnce);
  const Steps s = run.steps();
  s.mul_C(work0_addr, src_addr, alpha);
  s.add_C(work0_addr, work0_addr, beta);
  s.max_C(work0_addr, work0_addr, 0.0F);
  s.min_C(dst_addr, work0_addr, 1.0F);
}

// min(max(x + 3, 0), 6) x / 6
void tpu_bdc_fp_hswish(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
                       data_type_t dtype) {
  Composite run(Op::tpu_bdc_fp_hswish, shape, dtype);
  run.writes("dst", dst_addr).writes("work0", work0_addr).reads("src", src_addr, SourceUse::kToDst);
  const Steps s = run.steps();
  s.add_C(work0_addr, src_addr, 3.0F);
  s.max_C(work0_addr, work0_addr, 0.0F);
  s.min_C(work0_addr, work0_addr, 6.0F);
  s.mul(work0_addr, work0_addr, src_addr);
  s.mul_C(dst_addr, work0_addr, 1.0F / 6.0F);
}

// 1 where src is neither infinite nor NaN, else 0.
void tpu_bdc_fp_isfinite(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, const dim4* shape,
                         data_type_t dtype) {
  Composite run(Op::tpu_bdc_fp_isfinite, shape, dtype);
  run.writes("dst", dst_addr).writes("work0", work0_addr).reads("src", src_addr, SourceUse::kOnce);
  const Steps s = run.steps();
  s.abs(work0_addr, src_addr);
  // The chip's "less" also holds for NaN, its "greater" does not.
  const variable_t infinity = constant_variable(s.constant(std::bit_cast<float>(0x7F800000U)));
  const variable_t magnitude = tensor_variable(work0_addr);
  const variable_t yes = constant_variable(s.constant(1.0F));
  const variable_t no = constant_variable(s.constant(0.0F));
  tpu_bdc_greater_select(dst_addr, &infinity, &magnitude, &yes, &no, s.shape(), dtype, dtype);
}
}
