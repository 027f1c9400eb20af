// The special functions of today's BM1684X, which puts an exponential together from its exponent, bit for bit against
// their steps in the reference's arithmetic: any float type, ordinary arguments and any bits.
#include <bit>

#include "device/isa/op_names.hpp"
#include "tests/reference/by_exponent.hpp"
#include "tests/reference/chip_float.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/device_tensor.hpp"
#include "tpu_kernel.h"

namespace softtpu::by_exponent_oracle_test {
namespace {

using reference::ByExponent;
using Words = std::vector<std::uint32_t>;

constexpr local_addr_t kExp = 0x20000, kLog = 0x20100, kErf = 0x20200, kSin = 0x20300, kCos = 0x20400, kTan = 0x20500;
constexpr std::uint32_t kStep = 0x4000;

class ByExponentOracle : public testing::Test {
 protected:
  DeviceTensor tensor(std::uint32_t slot) const {
    return DeviceTensor::aligned(device_.chip(), type_, shape_, 0, slot * kStep);
  }
  local_addr_t at(std::uint32_t slot) const { return tensor(slot).addr(device_.chip()); }
  Words coefficients(local_addr_t addr, int count) {
    const auto one_row = DeviceTensor::aligned(device_.chip(), type_, {1, 1, 1, count}, 0, addr);
    return one_row.read(device_.chip(), device_.memories().local(0));
  }
  ByExponent oracle_of(Dtype type) {
    type_ = type;
    code_ = static_cast<data_type_t>(type);
    EXPECT_TRUE(device_
                    .run([&] {
                      tpu_bdc_load_fp_exp_coeff(kExp, code_);
                      tpu_bdc_load_fp_log_coeff(kLog, code_);
                      tpu_bdc_load_fp_erf_coeff(kErf, code_);
                      tpu_bdc_load_fp_sin_coeff(kSin, code_);
                      tpu_bdc_load_fp_cos_coeff(kCos, code_);
                      tpu_bdc_load_fp32_tan_coeff(kTan);
                    })
                    .ok);
    const bool wide = type == Dtype::kFp32;
    return {type,
            {coefficients(kExp, wide ? 10 : 7), coefficients(kLog, wide ? 16 : 8), coefficients(kErf, 10),
             coefficients(kSin, 16), coefficients(kCos, 16), coefficients(kTan, 16)}};
  }
  // Half of the arguments are ordinary, the others any bits; dst may be src.
  void expect(Op op, const std::function<void(local_addr_t dst)>& kernel,
              const std::function<std::uint32_t(std::uint32_t)>& element, bool in_place) {
    Words values(static_cast<std::size_t>(shape_.elements()));
    for (std::uint32_t& value : values) {
      value = (random_() & 1U) != 0 ? reference::stored(std::uniform_real_distribution<float>(-20, 20)(random_), type_)
                                    : static_cast<std::uint32_t>(random_()) >> (type_ == Dtype::kFp32 ? 0U : 16U);
    }
    for (const std::uint32_t slot : {0U, 1U}) {
      if (slot == 1 && !in_place) break;
      tensor(1).write(device_.chip(), device_.memories().local(0), values);
      const LaunchOutcome outcome = device_.run([&] { kernel(at(slot)); });
      ASSERT_TRUE(outcome.ok) << outcome.text;
      const Words got = tensor(slot).read(device_.chip(), device_.memories().local(0));
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], element(values[i])) << info(op).name << " of 0x" << std::hex << values[i];
      }
    }
    device_.oracle().forget();
    device_.oracle().confirm(op);
  }

  TestDevice device_{"bm1684x"};
  std::mt19937 random_{20261123U};
  Dim4 shape_{1, 70, 3, 20};
  dim4 c_shape_{1, 70, 3, 20};
  Dtype type_ = Dtype::kFp32;
  data_type_t code_ = DT_FP32;
};

#define BY_TYPE(name, in_place, ...)                                                         \
  expect(                                                                                    \
      Op::tpu_bdc_fp_##name, [&](local_addr_t dst) { tpu_bdc_fp_##name(dst, __VA_ARGS__); }, \
      [&](std::uint32_t x) { return oracle.name(x); }, in_place)
#define IN_FP32(name, in_place, ...)                                                             \
  expect(                                                                                        \
      Op::tpu_bdc_fp32_##name, [&](local_addr_t dst) { tpu_bdc_fp32_##name(dst, __VA_ARGS__); }, \
      [&](std::uint32_t x) { return oracle.name(x); }, in_place)

TEST_F(ByExponentOracle, FunctionsOfEveryTypeAreTheirSteps) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16}) {
    SCOPED_TRACE(to_text(type));
    const ByExponent oracle = oracle_of(type);
    BY_TYPE(exp, true, at(1), at(2), at(3), kExp, &c_shape_, code_);
    BY_TYPE(expm1, true, at(1), at(2), at(3), kExp, &c_shape_, code_);
    BY_TYPE(log, true, at(1), at(2), kLog, &c_shape_, code_);
    BY_TYPE(sin, true, at(1), at(2), kSin, &c_shape_, code_);
    BY_TYPE(cos, true, at(1), at(2), kCos, &c_shape_, code_);
    BY_TYPE(sigmoid, true, at(1), at(2), at(3), kExp, 0, &c_shape_, code_);
    BY_TYPE(silu, false, at(1), at(2), at(3), kExp, 0, &c_shape_, code_);
    BY_TYPE(erf, false, at(1), at(2), at(3), at(4), kExp, kErf, &c_shape_, code_);
    BY_TYPE(erfc, false, at(1), at(2), at(3), at(4), kExp, kErf, &c_shape_, code_);
    BY_TYPE(gelu, false, at(1), at(2), at(3), at(4), at(5), kExp, kErf, &c_shape_, code_);
    BY_TYPE(hswish, true, at(1), at(2), &c_shape_, code_);
    BY_TYPE(tanh, true, at(1), at(2), at(3), kExp, &c_shape_, code_);
    BY_TYPE(sinh, true, at(1), at(2), at(3), kExp, &c_shape_, code_);
    BY_TYPE(cosh, true, at(1), at(2), at(3), kExp, &c_shape_, code_);
    BY_TYPE(arctanh, true, at(1), at(2), kLog, &c_shape_, code_);
    BY_TYPE(softplus, true, at(1), at(2), at(3), kExp, kLog, &c_shape_, 1.0F, code_);
    BY_TYPE(log_sigmoid, false, at(1), at(2), at(3), kExp, kLog, &c_shape_, code_);
    BY_TYPE(gelu_fast, false, at(1), at(2), at(3), kExp, 0, &c_shape_, code_);
    BY_TYPE(gelu_fast2, false, at(1), at(2), at(3), kExp, 0, &c_shape_, code_);
  }
}

TEST_F(ByExponentOracle, FunctionsInFp32AreTheirSteps) {
  const ByExponent oracle = oracle_of(Dtype::kFp32);
  IN_FP32(exp, true, at(1), at(2), at(3), kExp, 0, &c_shape_);
  IN_FP32(expm1, true, at(1), at(2), at(3), kExp, 0, &c_shape_);
  IN_FP32(sigmoid, true, at(1), at(2), at(3), kExp, 0, &c_shape_);
  IN_FP32(sinh, true, at(1), at(2), at(3), kExp, 0, &c_shape_);
  IN_FP32(cosh, true, at(1), at(2), at(3), kExp, 0, &c_shape_);
  IN_FP32(mish, false, at(1), at(2), at(3), kExp, 0, &c_shape_);
  IN_FP32(log_sigmoid, false, at(1), at(2), at(3), kExp, 0, kLog, &c_shape_);
  IN_FP32(log, true, at(1), at(2), kLog, &c_shape_);
  IN_FP32(arcsinh, true, at(1), at(2), kLog, &c_shape_);
  IN_FP32(arccosh, true, at(1), at(2), kLog, &c_shape_);
  IN_FP32(arctanh, true, at(1), at(2), kLog, &c_shape_);
}

TEST_F(ByExponentOracle, TangentsComeFromAQuarterTurnLessTheAngle) {
  const ByExponent oracle = oracle_of(Dtype::kFp32);
  // In place they are refused (golden bm1684x-1.30-varied: v_sfu).
  IN_FP32(tan, false, at(1), at(2), kTan, &c_shape_);
  IN_FP32(cot, false, at(1), at(2), kTan, &c_shape_);
}

}  // namespace
}  // namespace softtpu::by_exponent_oracle_test
