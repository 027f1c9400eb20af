// Special functions in local memory against the same arithmetic written as one fused loop. Compiled for this machine:
// Highway's vectors have its own width. GCC 12 takes the undefined operands inside its own intrinsics for mistakes.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <hwy/highway.h>

#include <memory>
#include <vector>

#include "tests/bench/device.hpp"
#include "tests/bench/work.hpp"
#include "tpu_kernel.h"

namespace softtpu::bench {
namespace {

constexpr dim4 kShape = {1, 64, 64, 64};
constexpr int kElements = 64 * 64 * 64;
constexpr local_addr_t kDst = 0, kSrc = 0x10000, kWork0 = 0x20000, kWork1 = 0x28000, kWork2 = 0x30000, kWork3 = 0x34000;
constexpr local_addr_t kCoeff = 0x38000, kErfCoeff = 0x3a000, kTable = 0x3c000;
constexpr int kTerms = 16;
constexpr int kErfTerms = 10;
constexpr int kNewtonSteps = 3;

struct Arrays {
  std::vector<float> dst = std::vector<float>(kElements, 1.0F);
  std::vector<float> a = std::vector<float>(kElements, 0.7F);
  std::vector<float> b = std::vector<float>(kElements, 1.3F);
  std::vector<float> table = std::vector<float>(192, 1.0F);
  float coeff[kTerms] = {1, 1, 0.5F, 0.16F};
};

namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::ScalableTag<float> kFloats;
constexpr hn::RebindToSigned<hn::ScalableTag<float>> kInts;
using Vector = hn::Vec<hn::ScalableTag<float>>;

Vector constant(float value) { return hn::Set(kFloats, value); }

Vector series(const Arrays& arrays, Vector x, int terms) {
  Vector sum = constant(arrays.coeff[terms - 1]);
  for (int i = terms - 2; i >= 0; --i) sum = hn::Add(hn::Mul(sum, x), constant(arrays.coeff[i]));
  return sum;
}
Vector exponential(const Arrays& arrays, Vector x) {
  x = hn::Min(hn::Max(x, constant(-103.0F)), constant(88.0F));
  const Vector whole = hn::Round(x);
  x = hn::Sub(x, whole);
  const auto index = hn::Add(hn::ConvertTo(kInts, whole), hn::Set(kInts, 103));
  const Vector power = hn::GatherIndex(kFloats, arrays.table.data(), index);
  return hn::Mul(series(arrays, x, kTerms), power);
}
Vector inverse_root(Vector x) {
  const Vector half = hn::Mul(x, constant(0.5F));
  Vector y = hn::BitCast(kFloats, hn::Sub(hn::Set(kInts, 0x5F3759DF), hn::ShiftRight<1>(hn::BitCast(kInts, x))));
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Vector error = hn::Mul(hn::Mul(half, y), y);
    y = hn::Mul(y, hn::Sub(constant(1.5F), error));
  }
  return y;
}
Vector quotient(Vector a, Vector b) {
  const Vector inverse = inverse_root(hn::Abs(b));
  const Vector sign = hn::And(b, constant(-0.0F));
  return hn::Mul(hn::Mul(inverse, inverse), hn::Xor(a, sign));
}

Vector hyperbolic_tangent(const Arrays& arrays, Vector x) {
  const Vector power = exponential(arrays, x);
  const Vector square = hn::Add(hn::Mul(power, power), constant(1.0F));
  return hn::Add(constant(1.0F), hn::Mul(quotient(constant(1.0F), square), constant(-2.0F)));
}
Vector error_function(const Arrays& arrays, Vector x) {
  const Vector z = quotient(constant(1.0F), hn::Add(hn::Mul(hn::Abs(x), constant(0.5F)), constant(1.0F)));
  const Vector exponent = hn::Sub(series(arrays, z, kErfTerms), hn::Mul(x, x));
  const Vector rest = hn::Sub(constant(1.0F), hn::Mul(exponential(arrays, exponent), z));
  return hn::Mul(rest, hn::IfThenElse(hn::Lt(x, constant(0.0F)), constant(-1.0F), constant(1.0F)));
}

template <class Body>
RangeLoop fused(Body body) {
  auto arrays = std::make_shared<Arrays>();
  return [arrays, body](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; i += static_cast<std::int64_t>(hn::MaxLanes(kFloats))) {
      const Vector result =
          body(*arrays, hn::LoadU(kFloats, arrays->a.data() + i), hn::LoadU(kFloats, arrays->b.data() + i));
      hn::StoreU(result, kFloats, arrays->dst.data() + i);
    }
    keep(arrays->dst.data());
  };
}

RangeLoop fused_exp() {
  return fused([](const Arrays& arrays, Vector a, Vector) { return exponential(arrays, a); });
}
RangeLoop fused_sigmoid() {
  return fused([](const Arrays& arrays, Vector a, Vector) {
    const Vector power = exponential(arrays, hn::Sub(constant(0.0F), a));
    return quotient(constant(1.0F), hn::Add(power, constant(1.0F)));
  });
}
RangeLoop fused_tanh() {
  return fused([](const Arrays& arrays, Vector a, Vector) { return hyperbolic_tangent(arrays, a); });
}
RangeLoop fused_gelu() {
  return fused([](const Arrays& arrays, Vector a, Vector) {
    const Vector erf = error_function(arrays, hn::Mul(a, constant(0.7071F)));
    return hn::Mul(hn::Mul(hn::Add(erf, constant(1.0F)), constant(0.5F)), a);
  });
}
RangeLoop fused_gelu_fast() {
  return fused([](const Arrays& arrays, Vector a, Vector) {
    const Vector cubic = hn::Mul(hn::Mul(hn::Mul(a, a), a), constant(0.0447F));
    const Vector tanh = hyperbolic_tangent(arrays, hn::Mul(hn::Add(cubic, a), constant(0.7979F)));
    return hn::Mul(hn::Mul(hn::Add(tanh, constant(1.0F)), a), constant(0.5F));
  });
}
RangeLoop fused_rsqrt() {
  return fused([](const Arrays&, Vector a, Vector) { return inverse_root(a); });
}
RangeLoop fused_quotient() {
  return fused([](const Arrays&, Vector a, Vector b) { return quotient(a, b); });
}

void fill(BenchDevice& device) {
  const auto fill_float = [&](local_addr_t addr, float value) {
    scalar_t constant;
    constant.f32 = value;
    tpu_bdc_set_C(addr, constant, &kShape, nullptr, DT_FP32);
  };
  device.run([&] {
    fill_float(kSrc, 0.7F);
    fill_float(kWork0, 1.3F);
    tpu_bdc_load_fp32_exp_coeff(kCoeff);
    tpu_bdc_load_fp32_exp_table(kTable);
    tpu_bdc_load_fp32_erf_coeff(kErfCoeff);
  });
}

Work special(const char* name, std::function<void()> kernel, RangeLoop limit) {
  BenchDevice& device = BenchDevice::bm1684x();
  Work work;
  work.group = "special functions";
  work.name = name;
  work.amount = work.limit_amount = kElements / 1e9;
  work.unit = "G elements";
  work.prepare = [&device] { fill(device); };
  work.run = [&device, kernel = std::move(kernel)] { device.run(kernel); };
  work.limit_name = "fused loop";
  limit_by_loop(work, std::move(limit), kElements);
  work.required = 0.5;
  work.large = true;
  return work;
}

using Function = void (*)(local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t, local_addr_t,
                          const dim4*);
Work composite(const char* name, Function function, RangeLoop limit) {
  return special(
      name, [function] { function(kDst, kSrc, kWork0, kWork1, kCoeff, kTable, &kShape); }, std::move(limit));
}

const bool added = add_work([] {
  return std::vector<Work>{
      composite("exp f32 64x64x64", tpu_bdc_fp32_exp, fused_exp()),
      composite("sigmoid f32 64x64x64", tpu_bdc_fp32_sigmoid, fused_sigmoid()),
      composite("tanh f32 64x64x64", tpu_bdc_fp32_tanh, fused_tanh()),
      special(
          "gelu f32 64x64x64",
          [] { tpu_bdc_fp32_gelu(kDst, kSrc, kWork0, kWork1, kWork2, kWork3, kCoeff, kErfCoeff, kTable, &kShape); },
          fused_gelu()),
      composite("gelu_fast f32 64x64x64", tpu_bdc_fp32_gelu_fast, fused_gelu_fast()),
      special(
          "rsqrt f32 64x64x64", [] { tpu_bdc_fp32_rsqrt(kDst, kSrc, &kShape); }, fused_rsqrt()),
      special(
          "div f32 64x64x64", [] { tpu_bdc_fp32_div(kDst, kSrc, kWork0, &kShape, nullptr, nullptr, nullptr); },
          fused_quotient()),
  };
});

}  // namespace
}  // namespace softtpu::bench
