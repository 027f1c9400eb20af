// exp, expm1, sigmoid, tanh and the hyperbolic functions.
#include "device/isa/op_names.hpp"
#include "firmware/composite/composite.hpp"
#include "firmware/composite/functions.hpp"

namespace softtpu {
namespace {

// The table holds e^-103 ... e^88.
constexpr float kLowest = -103.0F;
constexpr float kHighest = 88.0F;

constexpr float kInverseLn2 = 1.44269504F;
// Where the exponential is put together from its exponent: the bound of the argument. The recordings leave it in
// 32752..45408 for f16, from 2.36e38 on for bf16 (where infinity is reached, in 3.4e35..1e36 as for f32), and in
// 3.4e35..1e36 for f32.
constexpr float largest(Dtype type) {
  return type == Dtype::kFp16 ? 32768.0F : type == Dtype::kBfp16 ? 3.38953139e38F : 3.40282e35F;
}
// From here on the hyperbolic tangent is taken as 1.
constexpr float kTanhLimit = 40.0F;

}  // namespace

Composite exp_call(Op op, local_addr_t dst, local_addr_t src, SourceUse use, const ExpBuffers& b, const dim4* shape) {
  Composite run(op, shape);
  run.writes("dst", dst).writes("work0", b.work0).writes("work1", b.work1).reads("src", src, use);
  run.table("coeff", b.coeff, exp_coefficients(run));
  exp_table(run, "table", b.table);
  return run;
}

Composite general_exp_call(Op op, local_addr_t dst, local_addr_t src, SourceUse use, const ExpBuffers& b,
                           const dim4* shape, data_type_t dtype, std::string_view coeff) {
  Composite run(op, shape, dtype);
  run.writes("dst", dst).writes("work0", b.work0).writes("work1", b.work1).reads("src", src, use);
  run.table(coeff, b.coeff, exp_terms(run.dtype()));
  return run;
}

void exp_function(Op op, ExpSteps steps, SourceUse use, local_addr_t dst, local_addr_t src, const ExpBuffers& b,
                  const dim4* shape) {
  const Composite run = exp_call(op, dst, src, use, b, shape);
  steps(run.steps(), dst, src, b);
}

void general_exp_function(Op op, ExpSteps steps, SourceUse use, local_addr_t dst, local_addr_t src, const ExpBuffers& b,
                          const dim4* shape, data_type_t dtype) {
  const Composite run = general_exp_call(op, dst, src, use, b, shape, dtype);
  steps(run.steps(), dst, src, b);
}

int exp_terms(Dtype type) { return type == Dtype::kFp32 ? 10 : 7; }

// e^x = 2^k e^(x - k ln 2), k = floor(x / ln 2). An exponent out of range becomes that of 0, or of the largest power or
// infinity, as the chip has it.
void general_exp_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  const auto bias = static_cast<float>(s.exponent_bias());
  const bool infinite = s.has(Quirk::kExpReachesInfinity);
  // The recordings leave the higher bound in -88..-700: e to it is 0 in every type.
  const bool high = infinite && !s.has(Quirk::kExpBoundOfType);
  // There bf16 has the bound of f32: both signs of it leave a remainder of 0 (golden bm1690-varied:
  // bdc_fp_sigmoid/000).
  const float highest = largest(infinite && s.type() == Dtype::kBfp16 ? Dtype::kFp32 : s.type());
  s.max_C(b.work0, src, high ? kLowest : -highest);
  s.min_C(b.work0, b.work0, highest);
  s.mul_C(b.work1, b.work0, kInverseLn2);
  s.floor(b.work1, b.work1);
  if (s.has(Quirk::kExpIntoDst)) {
    const bool bytes = s.type() == Dtype::kFp16 || (s.type() == Dtype::kBfp16 && s.has(Quirk::kByteExponents));
    const data_type_t half = bytes ? DT_INT8 : DT_INT16;
    tpu_bdc_cast(dst, b.work1, s.shape(), nullptr, nullptr, half, s.code(), RM_TOWARDS_ZERO);
  }
  s.mul_C(dst, b.work1, kLn2);
  s.sub(b.work0, b.work0, dst);
  s.taylor(dst, b.work0, b.coeff, exp_terms(s.type()));
  s.max_C(b.work1, b.work1, -bias);
  s.min_C(b.work1, b.work1, infinite ? bias + 1.0F : bias);
  s.power_of_two(b.work1, b.work1);
  s.mul(dst, dst, b.work1);
}

void exp_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  if (s.has(Quirk::kExpByExponent)) return general_exp_steps(s, dst, src, b);
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

void sigmoid_steps(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  s.C_sub(dst, 0.0F, src);
  exp(s, dst, dst, b);
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
}

namespace {

// 1 - 2 / (1 + e^2x), for e^2x in dst.
void tanh_of_square(const Steps& s, local_addr_t dst) {
  s.add_C(dst, dst, 1.0F);
  s.reciprocal(dst, dst);
  s.scale_bias_C(dst, dst, -2.0F, 1.0F);
}

}  // namespace

void general_tanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  // The bound is put on the argument, where the quotient is 1 already: src may be dst.
  s.max_C(dst, src, -largest(s.type()));
  s.min_C(dst, dst, kTanhLimit);
  s.mul_C(dst, dst, 2.0F);
  general_exp_steps(s, dst, dst, b);
  tanh_of_square(s, dst);
}

void tanh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  if (s.has(Quirk::kExpByExponent)) return general_tanh_steps(s, dst, src, b);
  exp_steps(s, dst, src, b);
  s.mul(dst, dst, dst);
  tanh_of_square(s, dst);
}

namespace {

// dst = e^x, work0 = e^-x as its reciprocal.
void exp_pair(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  exp(s, dst, src, b);
  s.reciprocal(b.work0, dst);
}

void half_difference(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  exp_pair(s, exp, dst, src, b);
  s.sub(dst, dst, b.work0);
  s.mul_C(dst, dst, 0.5F);
}

void half_sum(const Steps& s, ExpSteps exp, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  exp_pair(s, exp, dst, src, b);
  s.add(dst, dst, b.work0);
  s.mul_C(dst, dst, 0.5F);
}

void sinh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  half_difference(s, exp_steps, dst, src, b);
}
void cosh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  half_sum(s, exp_steps, dst, src, b);
}
void general_sinh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  half_difference(s, general_exp_steps, dst, src, b);
}
void general_cosh_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  half_sum(s, general_exp_steps, dst, src, b);
}
void general_expm1_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  general_exp_steps(s, dst, src, b);
  s.sub_C(dst, dst, 1.0F);
}

void fp32_sigmoid_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  sigmoid_steps(s, exp_steps, dst, src, b);
}
void general_sigmoid_steps(const Steps& s, local_addr_t dst, local_addr_t src, const ExpBuffers& b) {
  sigmoid_steps(s, general_exp_steps, dst, src, b);
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

#define EXP_FUNCTION(name, steps)                                                                           \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr, \
            local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape) {                          \
    exp_function(Op::name, steps, SourceUse::kOnce, dst_addr, src_addr,                                     \
                 {work0_addr, work1_addr, coeff_addr, table_addr}, shape);                                  \
  }
EXP_FUNCTION(tpu_bdc_fp32_exp, exp_steps)
EXP_FUNCTION(tpu_bdc_fp32_expm1, expm1_steps)
EXP_FUNCTION(tpu_bdc_fp32_sigmoid, fp32_sigmoid_steps)
EXP_FUNCTION(tpu_bdc_fp32_tanh, tanh_steps)
EXP_FUNCTION(tpu_bdc_fp32_sinh, sinh_steps)
EXP_FUNCTION(tpu_bdc_fp32_cosh, cosh_steps)

#define GENERAL_EXP_FUNCTION(name, steps)                                                                   \
  void name(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr, \
            local_addr_t coeff_addr, const dim4* shape, data_type_t dtype) {                                \
    general_exp_function(Op::name, steps, SourceUse::kOnce, dst_addr, src_addr,                             \
                         {work0_addr, work1_addr, coeff_addr, 0}, shape, dtype);                            \
  }
GENERAL_EXP_FUNCTION(tpu_bdc_fp_exp, general_exp_steps)
GENERAL_EXP_FUNCTION(tpu_bdc_fp_expm1, general_expm1_steps)
GENERAL_EXP_FUNCTION(tpu_bdc_fp_tanh, general_tanh_steps)
GENERAL_EXP_FUNCTION(tpu_bdc_fp_sinh, general_sinh_steps)
GENERAL_EXP_FUNCTION(tpu_bdc_fp_cosh, general_cosh_steps)

void tpu_bdc_fp_sigmoid(local_addr_t dst_addr, local_addr_t src_addr, local_addr_t work0_addr, local_addr_t work1_addr,
                        local_addr_t coeff_addr, local_addr_t table_addr, const dim4* shape, data_type_t dtype) {
  general_exp_function(Op::tpu_bdc_fp_sigmoid, general_sigmoid_steps, SourceUse::kOnce, dst_addr, src_addr,
                       {work0_addr, work1_addr, coeff_addr, table_addr}, shape, dtype);
}
}
