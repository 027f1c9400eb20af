// The f32 functions that are sequences of steps, on the chip of 2023 (which looks exponentials up in a table), against
// the compositions of the numerics page bit for bit; the loads of coefficients for every type; what has no sequence of
// steps but a plain meaning.
#include <bit>
#include <cmath>

#include "device/isa/op_names.hpp"
#include "device/memory/parallel.hpp"
#include "device/memory/static_tables.hpp"
#include "tests/reference/chip_float.hpp"
#include "tests/reference/composite.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/device_tensor.hpp"
#include "tpu_kernel.h"

namespace softtpu::composite_oracle_test {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kStep = 0x4000;  // bytes between the operands
constexpr local_addr_t kExp = 0x20000, kErf = 0x20100, kSin = 0x20200, kCos = 0x20300, kTable = 0x20400;

class CompositeOracle : public testing::Test {
 protected:
  ~CompositeOracle() override { set_thread_limit(0); }

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  DeviceTensor tensor(std::uint32_t slot) const {
    return DeviceTensor::aligned(device_.chip(), Dtype::kFp32, shape_, npu_, slot * kStep);
  }
  local_addr_t at(std::uint32_t slot) const { return tensor(slot).addr(device_.chip()); }
  Words words(std::uint32_t offset, std::size_t count) {
    Words made(count);
    std::memcpy(made.data(), device_.memories().static_mem() + offset, count * sizeof(std::uint32_t));
    return made;
  }
  reference::Composites composites() {
    return reference::Composites({words(static_offset::kExpCoeff, 16), words(static_offset::kExpTable, 192),
                                  words(static_offset::kErfCoeff, 10), words(static_offset::kSinCoeff, 16),
                                  words(static_offset::kCosCoeff, 16)});
  }
  void load_coefficients() {
    ASSERT_TRUE(device_
                    .run([] {
                      tpu_bdc_load_fp32_exp_coeff(kExp);
                      tpu_bdc_load_fp32_erf_coeff(kErf);
                      tpu_bdc_load_fp32_sin_coeff(kSin);
                      tpu_bdc_load_fp32_cos_coeff(kCos);
                      tpu_bdc_load_fp32_exp_table(kTable);
                    })
                    .ok);
  }
  // Ordinary values, and now and then any bits.
  Words random_values(float limit) {
    Words values(static_cast<std::size_t>(shape_.elements()));
    for (std::uint32_t& value : values) {
      const auto any = static_cast<std::uint32_t>(random_());
      value = (any & 15U) == 0
                  ? static_cast<std::uint32_t>(random_())
                  : std::bit_cast<std::uint32_t>(std::uniform_real_distribution<float>(-limit, limit)(random_));
    }
    return values;
  }

  using Element = std::function<std::uint32_t(std::uint32_t)>;
  // Random shapes and start NPUs; dst has the oracle's bits with many threads and with one.
  void expect(Op op, float limit, const std::function<void()>& kernel, const Element& element) {
    for (int trial = 0; trial < 6; ++trial) {
      shape_ = {number(1, 2), number(1, 70), number(1, 4), number(1, 30)};
      c_shape_ = {shape_.n, shape_.c, shape_.h, shape_.w};
      npu_ = number(0, device_.chip().npu_num - 1);
      const Words values = random_values(limit);
      for (const int threads : {0, 1}) {
        set_thread_limit(threads);
        tensor(1).write(device_.chip(), device_.memories().local(0), values);
        const LaunchOutcome outcome = device_.run(kernel);
        ASSERT_TRUE(outcome.ok) << outcome.text;
        const Words got = tensor(0).read(device_.chip(), device_.memories().local(0));
        for (std::size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i], element(values[i])) << info(op).name << " of 0x" << std::hex << values[i];
        }
      }
      device_.oracle().forget();
      device_.oracle().confirm(op);
    }
  }

  TestDevice device_{"bm1684x-23.05"};
  std::mt19937 random_{20240612U + static_cast<unsigned>(GTEST_FLAG_GET(random_seed))};
  Dim4 shape_{1, 1, 1, 1};
  dim4 c_shape_{1, 1, 1, 1};
  int npu_ = 0;
};

TEST_F(CompositeOracle, ExponentialFunctionsAreTheirSteps) {
  load_coefficients();
  const reference::Composites oracle = composites();
  using Function =
      void (*)(local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, const dim4*);
  struct Row {
    Op op;
    Function function;
    std::uint32_t (reference::Composites::*element)(std::uint32_t) const;
  };
#define ROW(name) \
  { Op::tpu_bdc_fp32_##name, tpu_bdc_fp32_##name, &reference::Composites::name }
  for (const Row& row : {Row ROW(exp), Row ROW(expm1), Row ROW(sigmoid), Row ROW(silu), Row ROW(tanh), Row ROW(selu),
                         Row ROW(gelu_fast)}) {
    expect(
        row.op, 100.0F, [&] { row.function(at(0), at(1), at(2), at(3), kExp, kTable, &c_shape_); },
        [&](std::uint32_t x) { return (oracle.*row.element)(x); });
  }
#undef ROW
  const float alpha = 0.75F;
  expect(
      Op::tpu_bdc_fp32_elu, 100.0F,
      [&] { tpu_bdc_fp32_elu(at(0), at(1), at(2), at(3), kExp, kTable, alpha, &c_shape_); },
      [&](std::uint32_t x) { return oracle.elu(alpha, x); });
  expect(
      Op::tpu_bdc_fp32_C_pow, 40.0F,
      [&] { tpu_bdc_fp32_C_pow(at(0), at(1), at(2), at(3), kExp, kTable, 2.5F, &c_shape_); },
      [&](std::uint32_t x) { return oracle.power_of(2.5F, x); });
}

TEST_F(CompositeOracle, SeriesFunctionsAreTheirSteps) {
  load_coefficients();
  const reference::Composites oracle = composites();
  expect(
      Op::tpu_bdc_fp32_sin, 50.0F, [&] { tpu_bdc_fp32_sin(at(0), at(1), at(2), kSin, &c_shape_); },
      [&](std::uint32_t x) { return oracle.sin(x); });
  expect(
      Op::tpu_bdc_fp32_cos, 50.0F, [&] { tpu_bdc_fp32_cos(at(0), at(1), at(2), kCos, &c_shape_); },
      [&](std::uint32_t x) { return oracle.cos(x); });
  expect(
      Op::tpu_bdc_fp32_erf, 6.0F,
      [&] { tpu_bdc_fp32_erf(at(0), at(1), at(2), at(3), at(4), kExp, kErf, kTable, &c_shape_); },
      [&](std::uint32_t x) { return oracle.erf(x); });
  expect(
      Op::tpu_bdc_fp32_erfc, 6.0F,
      [&] { tpu_bdc_fp32_erfc(at(0), at(1), at(2), at(3), at(4), kExp, kErf, kTable, &c_shape_); },
      [&](std::uint32_t x) { return oracle.erfc(x); });
  expect(
      Op::tpu_bdc_fp32_gelu, 6.0F,
      [&] { tpu_bdc_fp32_gelu(at(0), at(1), at(2), at(3), at(4), at(5), kExp, kErf, kTable, &c_shape_); },
      [&](std::uint32_t x) { return oracle.gelu(x); });
}

TEST_F(CompositeOracle, ReciprocalsWithCorrectionsAreTheirSteps) {
  for (int corrections = 0; corrections < 4; ++corrections) {
    expect(
        Op::tpu_bdc_fp32_compensate_reciprocal, 100.0F,
        [&] { tpu_bdc_fp32_compensate_reciprocal(at(0), at(1), at(2), at(3), at(4), &c_shape_, nullptr, corrections); },
        [&](std::uint32_t x) { return reference::compensated_reciprocal(x, 3, corrections); });
    const int iterations = corrections + 1;
    expect(
        Op::tpu_bdc_fp32_tunable_compensate_reciprocal, 100.0F,
        [&] {
          tpu_bdc_fp32_tunable_compensate_reciprocal(at(0), at(1), at(2), at(3), at(4), &c_shape_, nullptr, iterations,
                                                     corrections);
        },
        [&](std::uint32_t x) { return reference::compensated_reciprocal(x, iterations, corrections); });
  }
}

// Every NPU gets the series, each coefficient rounded to the type.
TEST_F(CompositeOracle, CoefficientsOfEveryTypeReachEveryNpu) {
  struct Row {
    Op op;
    void (*load)(local_addr_t, data_type_t);
    std::uint32_t offset;
    int terms, half_terms;
  };
  using namespace static_offset;
  const Row rows[] = {
      {Op::tpu_bdc_load_fp_exp_coeff, tpu_bdc_load_fp_exp_coeff, kExpCoeff, 10, 7},
      {Op::tpu_bdc_load_fp_log_coeff, tpu_bdc_load_fp_log_coeff, kLogCoeff, 16, 8},
      {Op::tpu_bdc_load_fp_erf_coeff, tpu_bdc_load_fp_erf_coeff, kErfCoeff, 10, 10},
      {Op::tpu_bdc_load_fp_sin_coeff, tpu_bdc_load_fp_sin_coeff, kSinCoeff, 32, 16},
      {Op::tpu_bdc_load_fp_cos_coeff, tpu_bdc_load_fp_cos_coeff, kCosCoeff, 32, 16},
  };
  for (const Row& row : rows) {
    for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16}) {
      const bool half = type != Dtype::kFp32;
      const Words series = words(row.offset, static_cast<std::size_t>(half ? row.half_terms : row.terms));
      const LaunchOutcome outcome = device_.run([&] { row.load(kExp, static_cast<data_type_t>(type)); });
      ASSERT_TRUE(outcome.ok) << outcome.text;
      for (int npu = 0; npu < device_.chip().npu_num; ++npu) {
        for (std::size_t i = 0; i < series.size(); ++i) {
          const std::uint32_t want = half ? reference::stored(std::bit_cast<float>(series[i]), type) : series[i];
          const std::uint32_t got =
              half ? device_.local<std::uint16_t>(npu, kExp)[i] : device_.local<std::uint32_t>(npu, kExp)[i];
          ASSERT_EQ(got, want) << info(row.op).name << " " << to_text(type) << ", NPU " << npu << ", coefficient " << i;
        }
      }
      device_.oracle().forget();
      device_.oracle().confirm(row.op);
    }
  }
}

// The forms without a data type bring what static memory holds to every NPU.
TEST_F(CompositeOracle, F32CoefficientsReachEveryNpu) {
  struct Row {
    Op op;
    void (*load)(local_addr_t);
    std::uint32_t offset;
    std::size_t terms;
  };
  using namespace static_offset;
  const Row rows[] = {
      {Op::tpu_bdc_load_fp32_exp_coeff, tpu_bdc_load_fp32_exp_coeff, kExpCoeff, 10},
      {Op::tpu_bdc_load_fp32_exp_table, tpu_bdc_load_fp32_exp_table, kExpTable, 192},
      {Op::tpu_bdc_load_fp32_log_coeff, tpu_bdc_load_fp32_log_coeff, kLogCoeff, 16},
      {Op::tpu_bdc_load_fp32_erf_coeff, tpu_bdc_load_fp32_erf_coeff, kErfCoeff, 10},
      {Op::tpu_bdc_load_fp32_sin_coeff, tpu_bdc_load_fp32_sin_coeff, kSinCoeff, 16},
      {Op::tpu_bdc_load_fp32_cos_coeff, tpu_bdc_load_fp32_cos_coeff, kCosCoeff, 16},
      // As recorded (docs/deviations.md).
      {Op::tpu_bdc_load_fp32_tan_coeff, tpu_bdc_load_fp32_tan_coeff, kExpTable, 32},
      {Op::tpu_bdc_load_fp32_arcsin_coeff, tpu_bdc_load_fp32_arcsin_coeff, kArcsinCoeff, 16},
  };
  for (const Row& row : rows) {
    const Words table = words(row.offset, row.terms);
    const LaunchOutcome outcome = device_.run([&] { row.load(kExp); });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int npu = 0; npu < device_.chip().npu_num; ++npu) {
      for (std::size_t i = 0; i < table.size(); ++i)
        ASSERT_EQ(device_.local<std::uint32_t>(npu, kExp)[i], table[i])
            << info(row.op).name << ", NPU " << npu << ", word " << i;
    }
    device_.oracle().forget();
    device_.oracle().confirm(row.op);
  }
}

TEST_F(CompositeOracle, IsFiniteLooksAtTheExponent) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16}) {
    for (int trial = 0; trial < 8; ++trial) {
      const Dim4 shape{number(1, 2), number(1, 70), number(1, 4), number(1, 30)};
      const DeviceTensor dst = DeviceTensor::aligned(device_.chip(), type, shape, number(0, 63), 0);
      DeviceTensor src = dst, work = dst;
      src.offset = kStep;
      work.offset = 2 * kStep;
      const std::uint32_t exponent = type == Dtype::kFp32 ? 0x7F800000U : type == Dtype::kFp16 ? 0x7C00U : 0x7F80U;
      const std::uint32_t mask = type == Dtype::kFp32 ? ~0U : 0xFFFFU;
      Words values(static_cast<std::size_t>(shape.elements()));
      for (std::uint32_t& value : values) {
        value = static_cast<std::uint32_t>(random_()) & mask;
        if (number(0, 2) == 0) value |= exponent;
      }
      src.write(device_.chip(), device_.memories().local(0), values);
      const dim4 c_shape = dst.c_shape();
      const LaunchOutcome outcome = device_.run([&] {
        tpu_bdc_fp_isfinite(dst.addr(device_.chip()), src.addr(device_.chip()), work.addr(device_.chip()), &c_shape,
                            static_cast<data_type_t>(type));
      });
      ASSERT_TRUE(outcome.ok) << outcome.text;
      const Words got = dst.read(device_.chip(), device_.memories().local(0));
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::uint32_t want = (values[i] & exponent) == exponent ? 0 : reference::stored(1.0F, type);
        ASSERT_EQ(got[i], want) << to_text(type) << " 0x" << std::hex << values[i];
      }
      device_.oracle().forget();
      device_.oracle().confirm(Op::tpu_bdc_fp_isfinite);
    }
  }
}

TEST_F(CompositeOracle, LengthsOfTheSeriesOfEveryType) {
  const LaunchOutcome outcome = device_.run([&] {
    EXPECT_EQ(sfu_taylor_exp_len(DT_FP32), 10);
    EXPECT_EQ(sfu_taylor_exp_len(DT_FP16), 7);
    EXPECT_EQ(sfu_taylor_exp_len(DT_BFP16), 7);
    EXPECT_EQ(sfu_taylor_log_len(DT_FP32), 16);
    EXPECT_EQ(sfu_taylor_log_len(DT_FP16), 8);
    EXPECT_EQ(sfu_taylor_log_len(DT_BFP16), 8);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  for (int i = 0; i < 3; ++i) {
    device_.oracle().confirm(Op::sfu_taylor_exp_len);
    device_.oracle().confirm(Op::sfu_taylor_log_len);
  }
}

}  // namespace
}  // namespace softtpu::composite_oracle_test
