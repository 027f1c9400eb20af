// Functions that issue the steps of others, against the C library in double precision, within a tolerance stated for
// each; what they leave alone; what they refuse before the first step.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>

#include "device/chip/rules.hpp"
#include "device/memory/parallel.hpp"
#include "tests/reference/chip_float.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tests/unit/device_tensor.hpp"

namespace softtpu::composite_test {
namespace {

// The arguments of one call; every function takes the ones that it knows.
struct Arguments {
  local_addr_t dst = 0, src = 0, src1 = 0;
  local_addr_t work[4] = {};
  local_addr_t exp_coeff = 0, log_coeff = 0, erf_coeff = 0, circle_coeff = 0, table = 0;
  const dim4* shape = nullptr;
  data_type_t type = DT_FP32;
};

struct Function {
  const char* name;
  double low, high;           // of the arguments
  double absolute, relative;  // allowed error: absolute + relative * |result|
  std::function<double(double)> reference;
  std::function<void(const Arguments&)> call;
  bool in_place = false;  // dst may be src
  int works = 2;
  std::function<void(const Arguments&)> load = {};  // brings the coefficients in circle_coeff
  bool in_place_by_steps = false;                   // dst may be src where the chip lists in-place-by-steps
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double gelu(double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }
double clipped(double x, double low, double high) { return std::min(std::max(x, low), high); }

#define EXP_CALL(name) \
  [](const Arguments& a) { name(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, a.shape); }
#define LOG_CALL(name) [](const Arguments& a) { name(a.dst, a.src, a.work[0], a.log_coeff, a.shape); }
#define CIRCLE_CALL(name) [](const Arguments& a) { name(a.dst, a.src, a.work[0], a.circle_coeff, a.shape); }
#define ERF_CALL(name)                                                                               \
  [](const Arguments& a) {                                                                           \
    name(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.exp_coeff, a.erf_coeff, a.table, a.shape); \
  }

#define CIRCLE_LOAD(name) [](const Arguments& a) { name(a.circle_coeff); }

std::vector<Function> fp32_functions() {
  const auto half_pi = std::acos(0.0);
  return {
      {"exp", -87, 88, 0, 4e-7, [](double x) { return std::exp(x); }, EXP_CALL(tpu_bdc_fp32_exp), true},
      {"expm1", -20, 20, 1e-7, 4e-7, [](double x) { return std::expm1(x); }, EXP_CALL(tpu_bdc_fp32_expm1), true},
      {"sigmoid", -60, 60, 1e-12, 6e-7, sigmoid, EXP_CALL(tpu_bdc_fp32_sigmoid), true},
      {"tanh", -40, 40, 7e-7, 0, [](double x) { return std::tanh(x); }, EXP_CALL(tpu_bdc_fp32_tanh), true},
      {"sinh", -40, 40, 2e-7, 3e-6, [](double x) { return std::sinh(x); }, EXP_CALL(tpu_bdc_fp32_sinh), true},
      {"cosh", -40, 40, 2e-7, 3e-6, [](double x) { return std::cosh(x); }, EXP_CALL(tpu_bdc_fp32_cosh), true},
      {"silu", -60, 60, 1e-9, 8e-7, [](double x) { return x * sigmoid(x); }, EXP_CALL(tpu_bdc_fp32_silu)},
      {"mish", -20, 200, 4e-6, 6e-7, [](double x) { return x * std::tanh(softplus(x)); }, EXP_CALL(tpu_bdc_fp32_mish)},
      {"selu", -30, 30, 3e-7, 4e-7,
       [](double x) { return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x)); },
       EXP_CALL(tpu_bdc_fp32_selu)},
      {"gelu_fast", -8, 8, 4e-6, 8e-7,
       [](double x) { return x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) / 2; },
       EXP_CALL(tpu_bdc_fp32_gelu_fast)},
      {"elu", -30, 30, 1e-6, 4e-7, [](double x) { return x > 0 ? x : 2.5 * std::expm1(x); },
       [](const Arguments& a) {
         tpu_bdc_fp32_elu(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, 2.5F, a.shape);
       }},
      {"swish", -40, 40, 1e-9, 8e-7, [](double x) { return x * sigmoid(1.5 * x); },
       [](const Arguments& a) {
         tpu_bdc_fp32_swish(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, 1.5F, a.shape);
       }},
      {"softplus",
       -30,
       300,
       3e-7,
       4e-7,
       softplus,
       [](const Arguments& a) {
         tpu_bdc_fp32_softplus(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.log_coeff, a.table, a.shape, 1.0F);
       },
       false,
       2,
       {},
       true},
      {"softplus 4",
       -10,
       100,
       3e-7,
       4e-7,
       [](double x) { return softplus(4 * x) / 4; },
       [](const Arguments& a) {
         tpu_bdc_fp32_softplus(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.log_coeff, a.table, a.shape, 4.0F);
       },
       false,
       2,
       {},
       true},
      {"log_sigmoid", -300, 30, 3e-6, 4e-7, [](double x) { return -softplus(-x); },
       [](const Arguments& a) {
         tpu_bdc_fp32_log_sigmoid(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, a.log_coeff, a.shape);
       }},
      {"softsign", -1000, 1000, 0, 4e-7, [](double x) { return x / (1 + std::fabs(x)); },
       [](const Arguments& a) { tpu_bdc_fp32_softsign(a.dst, a.src, a.shape); }, false, 0},
      {"log", 1e-30, 4, 3e-7, 3e-7, [](double x) { return std::log(x); }, LOG_CALL(tpu_bdc_fp32_log), true, 1},
      {"log", 1, 1e30, 3e-7, 3e-7, [](double x) { return std::log(x); }, LOG_CALL(tpu_bdc_fp32_log), true, 1},
      {"log1p", -0.9, 100, 4e-7, 3e-7,
       [](double x) { return std::log(static_cast<double>(static_cast<float>(x + 1))); }, LOG_CALL(tpu_bdc_fp32_log1p),
       true, 1},
      {"logx 10", 1e-3, 1e6, 3e-7, 4e-7, [](double x) { return std::log10(x); },
       [](const Arguments& a) { tpu_bdc_fp32_logx(a.dst, a.src, a.work[0], a.log_coeff, a.shape, 10.0F); }, true, 1},
      {"pow 2.5", 0.01, 100, 0, 4e-6, [](double x) { return std::pow(x, 2.5); },
       [](const Arguments& a) {
         tpu_bdc_fp32_pow_C(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.log_coeff, a.table, 2.5F, a.shape);
       },
       true},
      {"3 pow", -20, 20, 0, 4e-6, [](double x) { return std::pow(3.0, x); },
       [](const Arguments& a) {
         tpu_bdc_fp32_C_pow(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, 3.0F, a.shape);
       },
       true},
      {"x pow x",
       0.01,
       20,
       0,
       1e-5,
       [](double x) { return std::pow(x, x); },
       [](const Arguments& a) {
         tpu_bdc_fp32_pow(a.dst, a.src, a.src, a.work[0], a.work[1], a.exp_coeff, a.log_coeff, a.table, a.shape);
       },
       false,
       2,
       {},
       true},
      {"arcsinh", 0, 1e6, 4e-7, 5e-7, [](double x) { return std::asinh(x); }, LOG_CALL(tpu_bdc_fp32_arcsinh), true, 1},
      {"arcsinh", -2, 2, 4e-6, 3e-7, [](double x) { return std::asinh(x); }, LOG_CALL(tpu_bdc_fp32_arcsinh), true, 1},
      {"arccosh", 1, 3, 1e-5, 3e-7, [](double x) { return std::acosh(x); }, LOG_CALL(tpu_bdc_fp32_arccosh), true, 1},
      {"arctanh", -0.999, 0.999, 4e-7, 4e-7, [](double x) { return std::atanh(x); }, LOG_CALL(tpu_bdc_fp32_arctanh),
       true, 1},
      {"sin", -6.5, 6.5, 3e-6, 0, [](double x) { return std::sin(x); }, CIRCLE_CALL(tpu_bdc_fp32_sin), true, 1,
       CIRCLE_LOAD(tpu_bdc_load_fp32_sin_coeff)},
      {"cos", -6.5, 6.5, 3e-6, 0, [](double x) { return std::cos(x); }, CIRCLE_CALL(tpu_bdc_fp32_cos), true, 1,
       CIRCLE_LOAD(tpu_bdc_load_fp32_cos_coeff)},
      {"tan", -1.5, 1.5, 1e-6, 4e-6, [](double x) { return std::tan(x); }, CIRCLE_CALL(tpu_bdc_fp32_tan), true, 1,
       CIRCLE_LOAD(tpu_bdc_load_fp32_tan_coeff)},
      {"cot", 0.05, 3, 2e-6, 4e-6, [](double x) { return 1 / std::tan(x); }, CIRCLE_CALL(tpu_bdc_fp32_cot), true, 1,
       CIRCLE_LOAD(tpu_bdc_load_fp32_tan_coeff)},
      {"arcsin", -1, 1, 1e-9, 1e-6, [](double x) { return std::asin(x); }, CIRCLE_CALL(tpu_bdc_fp32_arcsin), false, 1,
       CIRCLE_LOAD(tpu_bdc_load_fp32_arcsin_coeff)},
      {"arcsin", -0.001, 0.001, 1e-9, 1e-6, [](double x) { return std::asin(x); }, CIRCLE_CALL(tpu_bdc_fp32_arcsin),
       false, 1, CIRCLE_LOAD(tpu_bdc_load_fp32_arcsin_coeff)},
      {"arccos", -1, 1, 1.6e-6, 0, [half_pi](double x) { return half_pi - std::asin(x); },
       CIRCLE_CALL(tpu_bdc_fp32_arccos), false, 1, CIRCLE_LOAD(tpu_bdc_load_fp32_arcsin_coeff)},
      {"erf", -5, 5, 1e-6, 0, [](double x) { return std::erf(x); }, ERF_CALL(tpu_bdc_fp32_erf), false, 3},
      {"erfc", -5, 5, 1e-6, 0, [](double x) { return std::erfc(x); }, ERF_CALL(tpu_bdc_fp32_erfc), false, 3},
      {"gelu", -8, 8, 4e-6, 1e-6, gelu,
       [](const Arguments& a) {
         tpu_bdc_fp32_gelu(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.work[3], a.exp_coeff, a.erf_coeff, a.table,
                           a.shape);
       },
       false, 4},
      {"compensate_reciprocal", 0.01, 1000, 0, 1.3e-7, [](double x) { return 1 / x; },
       [](const Arguments& a) {
         tpu_bdc_fp32_compensate_reciprocal(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.shape, nullptr, 2);
       },
       false, 3},
  };
}

// The same for any float type; the tolerance is in steps of the type at 1 (2^-24, 2^-11, 2^-8) and grows with it.
std::vector<Function> general_functions() {
  return {
      {"fp_exp", -9, 11, 0, 32, [](double x) { return std::exp(x); },
       [](const Arguments& a) { tpu_bdc_fp_exp(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.shape, a.type); },
       true},
      {"fp_expm1", -8, 8, 4, 24, [](double x) { return std::expm1(x); },
       [](const Arguments& a) { tpu_bdc_fp_expm1(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.shape, a.type); },
       true},
      {"fp_sigmoid", -9, 9, 0, 12, sigmoid,
       [](const Arguments& a) {
         tpu_bdc_fp_sigmoid(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, a.shape, a.type);
       },
       true},
      {"fp_silu", -9, 9, 1e-4, 12, [](double x) { return x * sigmoid(x); },
       [](const Arguments& a) {
         tpu_bdc_fp_silu(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, a.shape, a.type);
       }},
      {"fp_log", 0.01, 1000, 4, 6, [](double x) { return std::log(x); },
       [](const Arguments& a) { tpu_bdc_fp_log(a.dst, a.src, a.work[0], a.log_coeff, a.shape, a.type); }, true, 1},
      {"fp_erf", -4, 4, 16, 0, [](double x) { return std::erf(x); },
       [](const Arguments& a) {
         tpu_bdc_fp_erf(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.exp_coeff, a.erf_coeff, a.shape, a.type);
       },
       false, 3},
      {"fp_erfc", -4, 4, 20, 0, [](double x) { return std::erfc(x); },
       [](const Arguments& a) {
         tpu_bdc_fp_erfc(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.exp_coeff, a.erf_coeff, a.shape, a.type);
       },
       false, 3},
      {"fp_gelu", -4, 4, 8, 8, gelu,
       [](const Arguments& a) {
         tpu_bdc_fp_gelu(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.work[3], a.exp_coeff, a.erf_coeff, a.shape,
                         a.type);
       },
       false, 4},
      {"fp_sin", -6.5, 6.5, 24, 0, [](double x) { return std::sin(x); },
       [](const Arguments& a) { tpu_bdc_fp_sin(a.dst, a.src, a.work[0], a.circle_coeff, a.shape, a.type); }, true, 1,
       [](const Arguments& a) { tpu_bdc_load_fp_sin_coeff(a.circle_coeff, a.type); }},
      {"fp_cos", -6.5, 6.5, 40, 0, [](double x) { return std::cos(x); },
       [](const Arguments& a) { tpu_bdc_fp_cos(a.dst, a.src, a.work[0], a.circle_coeff, a.shape, a.type); }, true, 1,
       [](const Arguments& a) { tpu_bdc_load_fp_cos_coeff(a.circle_coeff, a.type); }},
      {"fp_hsigmoid", -9, 9, 2, 2, [](double x) { return clipped(x / 8 + 0.5, 0, 1); },
       [](const Arguments& a) { tpu_bdc_fp_hsigmoid(a.dst, a.src, a.work[0], a.shape, 0.125F, 0.5F, a.type); }, true,
       1},
      {"fp_hswish", -9, 9, 6, 4, [](double x) { return x * clipped(x + 3, 0, 6) / 6; },
       [](const Arguments& a) { tpu_bdc_fp_hswish(a.dst, a.src, a.work[0], a.shape, a.type); }, true, 1},
  };
}

// The published function behind a row's name: "logx 10" is tpu_bdc_fp32_logx, "fp_exp" is tpu_bdc_fp_exp.
std::string published_name(const std::string& row) {
  static const std::map<std::string, std::string> others = {
      {"pow 2.5", "tpu_bdc_fp32_pow_C"}, {"3 pow", "tpu_bdc_fp32_C_pow"}, {"x pow x", "tpu_bdc_fp32_pow"}};
  if (const auto found = others.find(row); found != others.end()) return found->second;
  const std::string name = row.substr(0, row.find(' '));
  return name.starts_with("fp_") ? "tpu_bdc_" + name : "tpu_bdc_fp32_" + name;
}

// For the ledger: how near the function is to its reference.
void note_tolerance(const Function& function, const char* unit) {
  testing::Test::RecordProperty("reference:" + published_name(function.name),
                                fmt::format("{:g} + {:g} * |result|{}", function.absolute, function.relative, unit));
}

class CompositeTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kStep = 0x4000;  // bytes between the tensors

  int number(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  DeviceTensor tensor(int slot) const {
    return DeviceTensor::aligned(device_.chip(), type_, shape_, npu_, static_cast<std::uint32_t>(slot) * kStep);
  }
  // Arguments in tensors 0 (dst), 1 (src), 2 (src1), 3.. (work), then tables.
  Arguments arguments() const {
    const auto addr = [&](int slot) { return tensor(slot).addr(device_.chip()); };
    Arguments a;
    a.dst = addr(0);
    a.src = addr(1);
    a.src1 = addr(2);
    for (int i = 0; i < 4; ++i) a.work[i] = addr(3 + i);
    a.exp_coeff = 0x30000;
    a.log_coeff = 0x30100;
    a.erf_coeff = 0x30200;
    a.circle_coeff = 0x30300;
    a.table = 0x30400;
    a.shape = &c_shape_;
    a.type = static_cast<data_type_t>(type_);
    return a;
  }
  void load_tables(const Arguments& a, bool by_type) {
    ASSERT_TRUE(device_
                    .run([&] {
                      if (by_type) {
                        tpu_bdc_load_fp_exp_coeff(a.exp_coeff, a.type);
                        tpu_bdc_load_fp_log_coeff(a.log_coeff, a.type);
                        tpu_bdc_load_fp_erf_coeff(a.erf_coeff, a.type);
                      } else {
                        tpu_bdc_load_fp32_exp_coeff(a.exp_coeff);
                        tpu_bdc_load_fp32_log_coeff(a.log_coeff);
                        tpu_bdc_load_fp32_erf_coeff(a.erf_coeff);
                        tpu_bdc_load_fp32_exp_table(a.table);
                      }
                    })
                    .ok);
  }
  void choose(Dtype type) {
    type_ = type;
    shape_ = {number(1, 2), number(1, 70), number(1, 4), number(1, 60)};
    c_shape_ = {shape_.n, shape_.c, shape_.h, shape_.w};
    npu_ = number(0, 63);
  }

  // Values of the type between low and high, each binade as likely as the next where the range spans many.
  std::vector<std::uint32_t> values(double low, double high) {
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(shape_.elements()));
    const bool wide = low > 0 && high / low > 1000;
    for (std::uint32_t& value : bits) {
      const double u = std::uniform_real_distribution<double>(0, 1)(random_);
      const double x = wide ? low * std::pow(high / low, u) : low + u * (high - low);
      value = reference::stored(static_cast<float>(x), type_);
    }
    return bits;
  }

  void check(const Function& function, double unit, bool by_type) {
    const Arguments a = arguments();
    load_tables(a, by_type);
    std::uint8_t* memory = device_.memories().local(0);
    const std::vector<std::uint32_t> x = values(function.low, function.high);
    tensor(1).write(device_.chip(), memory, x);
    const auto load = [&] {
      if (function.load) function.load(a);
    };
    ASSERT_TRUE(device_.run(load).ok);
    const LaunchOutcome outcome = device_.run([&] { function.call(a); });
    ASSERT_TRUE(outcome.ok) << function.name << ": " << outcome.text;
    const std::vector<std::uint32_t> got = tensor(0).read(device_.chip(), memory);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double argument = reference::value_of(x[i], type_);
      const double want = function.reference(argument);
      const double error = std::fabs(reference::value_of(got[i], type_) - want);
      const double allowed = unit * (function.absolute + function.relative * std::fabs(want));
      ASSERT_LE(error, allowed) << function.name << '(' << argument << ") in " << to_text(type_) << " is "
                                << reference::value_of(got[i], type_) << ", the reference says " << want;
      worst = std::max(worst, error / allowed);
    }
    EXPECT_EQ(tensor(1).read(device_.chip(), memory), x) << function.name << " changes src";
    RecordProperty(function.name, std::to_string(worst));
    if (!may_be_in_place(function)) return;
    Arguments same = a;
    same.dst = a.src;
    ASSERT_TRUE(device_.run([&] { function.call(same); }).ok) << function.name << " in place";
    EXPECT_EQ(tensor(1).read(device_.chip(), memory), got) << function.name << " in place";
  }

  bool may_be_in_place(const Function& function) const {
    return function.in_place || (function.in_place_by_steps && device_.chip().has(Quirk::kOwnInPlace));
  }

  // Wrong arguments of any function are refused before the first step.
  void check_refusals(const Function& function) {
    const auto refused = [&](const char* text, const std::function<void(Arguments&)>& spoil) {
      Arguments a = arguments();
      spoil(a);
      SCOPED_TRACE(function.name);
      device_.expect_fault([&] { function.call(a); }, text);
    };
    const dim4 empty{1, 0, 1, 1};
    refused("shape is NULL", [](Arguments& a) { a.shape = nullptr; });
    refused("shape.c (0) is outside", [&](Arguments& a) { a.shape = &empty; });
    refused("dst address (0x", [](Arguments& a) { a.dst += 4; });
    refused("start NPU of ", [&](Arguments& a) {
      a.src = npu_ == 0 ? a.src + device_.chip().local_bytes : a.src - device_.chip().local_bytes;
    });
    refused("ends at offset", [&](Arguments& a) {
      a.src = a.src / device_.chip().local_bytes * device_.chip().local_bytes + device_.chip().local_bytes - 64;
    });
    if (function.works > 0) refused("overlaps", [](Arguments& a) { a.work[0] = a.dst; });
    if (function.works > 1) refused("overlaps", [](Arguments& a) { a.work[1] = a.work[0] + 64; });
    if (!may_be_in_place(function)) refused("overlaps", [](Arguments& a) { a.src = a.dst; });
  }

  explicit CompositeTest(const std::string& chip = "bm1684x") : device_(chip) {}

  TestDevice device_;
  std::mt19937 random_{777};
  Dtype type_ = Dtype::kFp32;
  Dim4 shape_;
  dim4 c_shape_{};
  int npu_ = 0;
};

// The chip of 2023: its results are as near to the documented functions as f32 allows, but for those that
// docs/deviations.md names; today's are those of by_exponent_oracle_test.cpp.
class CompositeByTableTest : public CompositeTest {
 protected:
  CompositeByTableTest() : CompositeTest("bm1684x-23.05") {}
};

TEST_F(CompositeByTableTest, Fp32FunctionsMatchTheReference) {
  for (const Function& function : fp32_functions()) {
    choose(Dtype::kFp32);
    check(function, 1, false);
    note_tolerance(function, "");
  }
}

TEST_F(CompositeTest, FunctionsOfEveryTypeMatchTheReference) {
  for (const Function& function : general_functions()) {
    for (const auto& [type, unit] :
         {std::pair{Dtype::kFp32, 0x1p-24}, std::pair{Dtype::kFp16, 0x1p-11}, std::pair{Dtype::kBfp16, 0x1p-8}}) {
      choose(type);
      check(function, unit, true);
    }
    note_tolerance(function, " steps of the type at 1");
  }
}

TEST_F(CompositeTest, WrongArgumentsAreRefused) {
  for (const std::vector<Function>& functions : {fp32_functions(), general_functions()}) {
    for (const Function& function : functions) {
      choose(Dtype::kFp32);
      // Two rows at least, so that a tensor moved by one row overlaps its neighbour.
      shape_.w = std::max(shape_.w, 40);
      c_shape_.w = shape_.w;
      check_refusals(function);
    }
  }
}

TEST_F(CompositeTest, IsFiniteTellsNumbersFromInfinityAndNan) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kFp16, Dtype::kBfp16}) {
    choose(type);
    shape_ = {1, 1, 1, 6};
    c_shape_ = {1, 1, 1, 6};
    const std::uint32_t infinity = reference::stored(INFINITY, type);
    const std::uint32_t sign = type == Dtype::kFp32 ? 0x80000000U : 0x8000U;
    const Arguments a = arguments();
    std::uint8_t* memory = device_.memories().local(0);
    tensor(1).write(device_.chip(), memory,
                    {0, infinity, infinity | sign, infinity + 1, infinity - 1, (infinity - 1) | sign});
    ASSERT_TRUE(device_.run([&] { tpu_bdc_fp_isfinite(a.dst, a.src, a.work[0], a.shape, a.type); }).ok);
    const std::uint32_t one = reference::stored(1.0F, type);
    EXPECT_EQ(tensor(0).read(device_.chip(), memory), (std::vector<std::uint32_t>{one, 0, 0, 0, one, one}));
  }
}

// No argument gives infinity: the exponent of 2 stops at its largest, and that of 0 stands for all small results.
TEST_F(CompositeTest, ExponentialEndsAtTheLargestPowerOfTwo) {
  struct Point {
    Dtype type;
    float x;
    double low, high;
  };
  for (const Point& point :
       {Point{Dtype::kFp32, 90.0F, 0x1p127, 0x1p128}, Point{Dtype::kFp32, INFINITY, 0x1p127, 0x1p128},
        Point{Dtype::kFp32, -100.0F, 0, 0}, Point{Dtype::kFp32, -INFINITY, 0, 0},
        Point{Dtype::kFp16, 11.5F, 0x1p15, 0x1p16}, Point{Dtype::kFp16, INFINITY, 0x1p15, 0x1p16},
        Point{Dtype::kFp16, -12.0F, 0, 0}, Point{Dtype::kFp16, -INFINITY, 0, 0}, Point{Dtype::kFp16, NAN, 0, 0},
        Point{Dtype::kBfp16, 100.0F, 0x1p126, 0x1p128}, Point{Dtype::kBfp16, -200.0F, 0, 0}}) {
    choose(point.type);
    const Arguments a = arguments();
    load_tables(a, true);
    std::uint8_t* memory = device_.memories().local(0);
    tensor(1).write(device_.chip(), memory,
                    std::vector<std::uint32_t>(static_cast<std::size_t>(shape_.elements()),
                                               reference::stored(point.x, point.type)));
    ASSERT_TRUE(
        device_.run([&] { tpu_bdc_fp_exp(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.shape, a.type); }).ok);
    const double got = reference::value_of(tensor(0).read(device_.chip(), memory)[0], point.type);
    EXPECT_GE(got, point.low) << to_text(point.type) << " exp(" << point.x << ')';
    EXPECT_LE(got, point.high) << to_text(point.type) << " exp(" << point.x << ')';
    EXPECT_FALSE(std::isinf(got)) << to_text(point.type) << " exp(" << point.x << ')';
  }
}

TEST_F(CompositeTest, OneThreadGivesTheSameBitsAsMany) {
  shape_ = {1, 64, 8, 60};
  c_shape_ = {1, 64, 8, 60};
  const Arguments a = arguments();
  load_tables(a, false);
  tensor(1).write(device_.chip(), device_.memories().local(0), values(-5, 5));
  const auto kernel = [&] {
    tpu_bdc_fp32_gelu(a.dst, a.src, a.work[0], a.work[1], a.work[2], a.work[3], a.exp_coeff, a.erf_coeff, a.table,
                      a.shape);
  };
  ASSERT_TRUE(device_.run(kernel).ok);
  const std::vector<std::uint8_t> many = device_.local_bytes();
  set_thread_limit(1);
  ASSERT_TRUE(device_.run(kernel).ok);
  set_thread_limit(0);
  EXPECT_TRUE(many == device_.local_bytes());
}

// The steps of exp, each as a command of its own: the table's rules then look at every index, and accept those that any
// bits of the argument lead to.
TEST_F(CompositeByTableTest, ExponentialIsItsStepsForAllKindsOfBits) {
  shape_ = {1, 64, 8, 64};
  c_shape_ = {1, 64, 8, 64};
  const Arguments a = arguments();
  load_tables(a, false);
  const auto constant = [](float value) {
    scalar_t made{};
    made.f32 = value;
    return made;
  };
  const auto steps = [&] {
    const local_addr_t clipped = a.work[0], whole = a.work[1];
    scalar_t first{};
    first.s32 = 103;
    tpu_bdc_max_C(clipped, a.src, constant(-103.0F), a.shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_min_C(clipped, clipped, constant(88.0F), a.shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_round(whole, clipped, a.shape, nullptr, nullptr, DT_FP32, RM_HALF_AWAY_FROM_ZERO);
    tpu_bdc_fp_sub(clipped, clipped, whole, a.shape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_cast(a.dst, whole, a.shape, nullptr, nullptr, DT_INT16, DT_FP32, RM_TOWARDS_ZERO);
    tpu_bdc_int_add_C(a.dst, a.dst, first, a.shape, nullptr, nullptr, DT_INT16, DT_INT16, DT_INT16, 0, RM_HALF_TO_EVEN,
                      false);
    tpu_bdc_table_lookup(whole, a.dst, a.table, a.shape, 192, DT_FP32, DT_UINT16);
    tpu_bdc_fp_taylor(a.dst, clipped, a.exp_coeff, a.shape, 16, DT_FP32);
    tpu_bdc_fp_mul(a.dst, a.dst, whole, a.shape, nullptr, nullptr, nullptr, DT_FP32);
  };
  std::mt19937 random(7);
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(shape_.elements()));
  for (std::uint32_t& pattern : bits) pattern = static_cast<std::uint32_t>(random());
  constexpr std::uint32_t kSpecial[] = {0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF, 0x7F800000,
                                        0xFF800000, 0x00000001, 0x807FFFFF, 0x42B00000, 0xC2CE0000};
  std::copy(std::begin(kSpecial), std::end(kSpecial), bits.begin());
  tensor(1).write(device_.chip(), device_.memories().local(0), bits);
  const LaunchOutcome outcome = device_.run(steps);
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const std::vector<std::uint8_t> want = device_.local_bytes();
  ASSERT_TRUE(
      device_.run([&] { tpu_bdc_fp32_exp(a.dst, a.src, a.work[0], a.work[1], a.exp_coeff, a.table, a.shape); }).ok);
  EXPECT_TRUE(want == device_.local_bytes());
}

TEST_F(CompositeTest, LengthsOfTheSeriesFitTheirTables) {
  ASSERT_TRUE(device_
                  .run([] {
                    EXPECT_EQ(sfu_taylor_exp_len(DT_FP32), 10);
                    EXPECT_EQ(sfu_taylor_exp_len(DT_FP16), 7);
                    EXPECT_EQ(sfu_taylor_exp_len(DT_BFP16), 7);
                    EXPECT_EQ(sfu_taylor_log_len(DT_FP32), 16);
                    EXPECT_EQ(sfu_taylor_log_len(DT_FP16), 8);
                    EXPECT_EQ(sfu_taylor_log_len(DT_BFP16), 8);
                  })
                  .ok);
  EXPECT_FALSE(device_.run([] { sfu_taylor_exp_len(DT_INT8); }).ok);
}

}  // namespace
}  // namespace softtpu::composite_test
