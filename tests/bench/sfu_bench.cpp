// Special functions in local memory against the same arithmetic written as one fused loop.
// GCC 12 takes the undefined operands inside its own intrinsics for mistakes.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

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

#ifdef __AVX512F__
using Vector = __m512;

Vector constant(float value) { return _mm512_set1_ps(value); }

Vector series(const Arrays& arrays, Vector x, int terms) {
  Vector sum = constant(arrays.coeff[terms - 1]);
  for (int i = terms - 2; i >= 0; --i) sum = _mm512_add_ps(_mm512_mul_ps(sum, x), constant(arrays.coeff[i]));
  return sum;
}
Vector exponential(const Arrays& arrays, Vector x) {
  x = _mm512_min_ps(_mm512_max_ps(x, constant(-103.0F)), constant(88.0F));
  const Vector whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  x = _mm512_sub_ps(x, whole);
  const __m512i index = _mm512_add_epi32(_mm512_cvttps_epi32(whole), _mm512_set1_epi32(103));
  const Vector power = _mm512_i32gather_ps(index, arrays.table.data(), 4);
  return _mm512_mul_ps(series(arrays, x, kTerms), power);
}
Vector inverse_root(Vector x) {
  const Vector half = _mm512_mul_ps(x, constant(0.5F));
  Vector y = _mm512_castsi512_ps(
      _mm512_sub_epi32(_mm512_set1_epi32(0x5F3759DF), _mm512_srai_epi32(_mm512_castps_si512(x), 1)));
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Vector error = _mm512_mul_ps(_mm512_mul_ps(half, y), y);
    y = _mm512_mul_ps(y, _mm512_sub_ps(constant(1.5F), error));
  }
  return y;
}
Vector quotient(Vector a, Vector b) {
  const Vector inverse = inverse_root(_mm512_abs_ps(b));
  const __m512i sign = _mm512_and_si512(_mm512_castps_si512(b), _mm512_set1_epi32(static_cast<int>(0x80000000U)));
  return _mm512_mul_ps(_mm512_mul_ps(inverse, inverse),
                       _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), sign)));
}

Vector hyperbolic_tangent(const Arrays& arrays, Vector x) {
  const Vector power = exponential(arrays, x);
  const Vector square = _mm512_add_ps(_mm512_mul_ps(power, power), constant(1.0F));
  return _mm512_add_ps(constant(1.0F), _mm512_mul_ps(quotient(constant(1.0F), square), constant(-2.0F)));
}
Vector error_function(const Arrays& arrays, Vector x) {
  const Vector z =
      quotient(constant(1.0F), _mm512_add_ps(_mm512_mul_ps(_mm512_abs_ps(x), constant(0.5F)), constant(1.0F)));
  const Vector exponent = _mm512_sub_ps(series(arrays, z, kErfTerms), _mm512_mul_ps(x, x));
  const Vector rest = _mm512_sub_ps(constant(1.0F), _mm512_mul_ps(exponential(arrays, exponent), z));
  const __mmask16 negative = _mm512_cmp_ps_mask(x, constant(0.0F), _CMP_LT_OQ);
  return _mm512_mul_ps(rest, _mm512_mask_blend_ps(negative, constant(1.0F), constant(-1.0F)));
}

template <class Body>
RangeLoop fused(Body body) {
  auto arrays = std::make_shared<Arrays>();
  return [arrays, body](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; i += 16) {
      const Vector result = body(*arrays, _mm512_loadu_ps(arrays->a.data() + i), _mm512_loadu_ps(arrays->b.data() + i));
      _mm512_storeu_ps(arrays->dst.data() + i, result);
    }
    keep(arrays->dst.data());
  };
}

RangeLoop fused_exp() {
  return fused([](const Arrays& arrays, Vector a, Vector) { return exponential(arrays, a); });
}
RangeLoop fused_sigmoid() {
  return fused([](const Arrays& arrays, Vector a, Vector) {
    const Vector power = exponential(arrays, _mm512_sub_ps(constant(0.0F), a));
    return quotient(constant(1.0F), _mm512_add_ps(power, constant(1.0F)));
  });
}
RangeLoop fused_tanh() {
  return fused([](const Arrays& arrays, Vector a, Vector) { return hyperbolic_tangent(arrays, a); });
}
RangeLoop fused_gelu() {
  return fused([](const Arrays& arrays, Vector a, Vector) {
    const Vector erf = error_function(arrays, _mm512_mul_ps(a, constant(0.7071F)));
    return _mm512_mul_ps(_mm512_mul_ps(_mm512_add_ps(erf, constant(1.0F)), constant(0.5F)), a);
  });
}
RangeLoop fused_gelu_fast() {
  return fused([](const Arrays& arrays, Vector a, Vector) {
    const Vector cubic = _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(a, a), a), constant(0.0447F));
    const Vector tanh = hyperbolic_tangent(arrays, _mm512_mul_ps(_mm512_add_ps(cubic, a), constant(0.7979F)));
    return _mm512_mul_ps(_mm512_mul_ps(_mm512_add_ps(tanh, constant(1.0F)), a), constant(0.5F));
  });
}
RangeLoop fused_rsqrt() {
  return fused([](const Arrays&, Vector a, Vector) { return inverse_root(a); });
}
RangeLoop fused_quotient() {
  return fused([](const Arrays&, Vector a, Vector b) { return quotient(a, b); });
}
#else
RangeLoop fused_exp() { return {}; }
RangeLoop fused_sigmoid() { return {}; }
RangeLoop fused_tanh() { return {}; }
RangeLoop fused_gelu() { return {}; }
RangeLoop fused_gelu_fast() { return {}; }
RangeLoop fused_rsqrt() { return {}; }
RangeLoop fused_quotient() { return {}; }
#endif

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
  work.limit_name = "fused AVX-512 loop";
  if (limit) limit_by_loop(work, std::move(limit), kElements);
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
