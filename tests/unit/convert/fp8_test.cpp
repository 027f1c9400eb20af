// FP8 on BM1690: conversions, element-wise functions and products, against oracles that know the formats only by their
// definition: the value of a pattern, and the nearest of all values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "device/numeric/fp8.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::fp8_test {
namespace {

struct Format {
  data_type_t code;
  int mantissa, bias;
  int largest;   // the pattern of the largest number
  int overflow;  // what an unsaturated overflow gives
};
constexpr Format kE4m3{DT_FP8E4M3, 3, 7, 0x7E, 0x7F}, kE5m2{DT_FP8E5M2, 2, 15, 0x7B, 0x7C};

double value_of(int bits, const Format& format) {
  const int magnitude = bits & 0x7F, exponent = magnitude >> format.mantissa;
  const int fraction = magnitude & ((1 << format.mantissa) - 1);
  double value = 0;
  if (magnitude > format.largest) {
    value = magnitude == format.overflow && format.overflow != 0x7F ? std::numeric_limits<double>::infinity()
                                                                    : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - format.bias - format.mantissa);
  } else {
    value = std::ldexp((1 << format.mantissa) + fraction, exponent - format.bias - format.mantissa);
  }
  return bits >= 0x80 ? -value : value;
}

// The pattern of a finite value, found by looking at all numbers and at the step above the largest.
int rounded(double value, const Format& format, rounding_mode_t mode, bool saturate) {
  const bool negative = std::signbit(value);
  const double magnitude = std::abs(value);
  int below = 0;
  while (below < format.largest && value_of(below + 1, format) <= magnitude) ++below;
  const double step = below == format.largest ? value_of(below, format) - value_of(below - 1, format)
                                              : value_of(below + 1, format) - value_of(below, format);
  const double part = std::min((magnitude - value_of(below, format)) / step, 1.0);
  bool up = false;
  if (mode == RM_HALF_TO_EVEN) up = part > 0.5 || (part == 0.5 && below % 2 == 1);
  if (mode == RM_HALF_AWAY_FROM_ZERO) up = part >= 0.5;
  if (mode == RM_UP) up = part > 0 && !negative;
  if (mode == RM_DOWN) up = part > 0 && negative;
  int bits = below + (up || part >= 1 ? 1 : 0);
  if (bits > format.largest) bits = saturate ? format.largest : format.overflow;
  return bits | (negative ? 0x80 : 0);
}

class Fp8 : public testing::Test {
 protected:
  static std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
  static float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
  int in(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  // Any pattern that is a number.
  std::uint8_t number(const Format& format) {
    return static_cast<std::uint8_t>(in(0, format.largest) | (in(0, 1) != 0 ? 0x80 : 0));
  }

  std::mt19937 random_{20261123};
  TestDevice device_{"bm1690"};
};

TEST_F(Fp8, EveryPatternHasItsValue) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto pattern = static_cast<std::uint8_t>(bits);
    const double e4m3 = widen_fp8(E4m3{pattern}), e5m2 = widen_fp8(E5m2{pattern});
    const double wanted4 = value_of(bits, kE4m3), wanted5 = value_of(bits, kE5m2);
    EXPECT_TRUE(e4m3 == wanted4 || (std::isnan(e4m3) && std::isnan(wanted4))) << bits;
    EXPECT_TRUE(e5m2 == wanted5 || (std::isnan(e5m2) && std::isnan(wanted5))) << bits;
  }
}

TEST_F(Fp8, ConversionsFromFloatsRoundToTheNearestOfAllNumbersAndSaturate) {
  constexpr int kCount = 512;
  for (const Format* format : {&kE4m3, &kE5m2}) {
    for (const auto mode : {RM_HALF_TO_EVEN, RM_HALF_AWAY_FROM_ZERO, RM_TOWARDS_ZERO, RM_DOWN, RM_UP}) {
      auto* src = device_.local<float>(0, 0);
      for (int i = 0; i < kCount; ++i) {
        // Numbers, what lies half way between two of them, and neighbours of both.
        const int base = in(0, format->largest);
        const double low = value_of(base, *format),
                     high = base < format->largest ? value_of(base + 1, *format) : low * 1.5;
        const double between = in(0, 2) == 0 ? (low + high) / 2 : low + (high - low) * in(0, 64) / 64;
        std::uint32_t bits = bits_of(static_cast<float>(between)) + static_cast<std::uint32_t>(in(-1, 1));
        if ((bits & 0x7F800000U) == 0 || bits > 0x7F800000U) bits = 0;
        src[i] = float_of(bits | (in(0, 1) != 0 ? 0x80000000U : 0U));
      }
      const dim4 shape{1, 1, 1, kCount};
      const LaunchOutcome outcome =
          device_.run([&] { tpu_bdc_cast(0x4000, 0, &shape, nullptr, nullptr, format->code, DT_FP32, mode); });
      ASSERT_TRUE(outcome.ok) << outcome.text;
      for (int i = 0; i < kCount; ++i)
        ASSERT_EQ(int{device_.local<std::uint8_t>(0, 0x4000)[i]}, rounded(src[i], *format, mode, true))
            << src[i] << " mode " << mode;
    }
  }
}

TEST_F(Fp8, ConversionsToIntegersClampAndMakeZeroOfNan) {
  auto* src = device_.local<std::uint8_t>(0, 0);
  for (int i = 0; i < 256; ++i) src[i] = static_cast<std::uint8_t>(i);
  const dim4 shape{1, 1, 1, 256};
  for (const Format* format : {&kE4m3, &kE5m2}) {
    const LaunchOutcome outcome = device_.run([&] {
      tpu_bdc_cast(0x4000, 0, &shape, nullptr, nullptr, DT_INT8, format->code, RM_HALF_AWAY_FROM_ZERO);
      tpu_bdc_cast(0x8000, 0, &shape, nullptr, nullptr, DT_UINT16, format->code, RM_DOWN);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int i = 0; i < 256; ++i) {
      const double value = value_of(i, *format);
      const double bytes = std::isnan(value) ? 0 : std::clamp(std::round(value), -128.0, 127.0);
      const double words = std::isnan(value) ? 0 : std::clamp(std::floor(value), 0.0, 65535.0);
      EXPECT_EQ(int{device_.local<std::int8_t>(0, 0x4000)[i]}, static_cast<int>(bytes)) << value;
      EXPECT_EQ(int{device_.local<std::uint16_t>(0, 0x8000)[i]}, static_cast<int>(words)) << value;
    }
  }
}

TEST_F(Fp8, AConstantOfTheOtherFormatIsAddedSubtractedAndMultiplied) {
  constexpr int kW = 37;
  for (int trial = 0; trial < 60; ++trial) {
    const Format &from = in(0, 1) != 0 ? kE4m3 : kE5m2, &constant = in(0, 1) != 0 ? kE4m3 : kE5m2;
    const Format& to = in(0, 1) != 0 ? kE4m3 : kE5m2;
    const bool saturate = in(0, 1) != 0;
    const int channels = in(1, 70), step = in(1, 3), which = in(0, 2);
    scalar_t C{};
    C.u8 = number(constant);
    const dim4 shape{1, channels, 1, kW}, stride{0, kW * step, 0, step};
    for (int c = 0; c < channels; ++c)
      for (int w = 0; w < kW; ++w) device_.local<std::uint8_t>(c % 64, 0)[(c / 64) * 64 + w] = number(from);
    const LaunchOutcome outcome = device_.run([&] {
      const auto call = which == 0 ? tpu_bdc_fp8_add_C : which == 1 ? tpu_bdc_fp8_C_sub : tpu_bdc_fp8_mul_C;
      call(0x4000, 0, C, &shape, &stride, nullptr, to.code, from.code, constant.code, saturate ? 1 : 0);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int c = 0; c < channels; ++c) {
      for (int w = 0; w < kW; ++w) {
        const double a = value_of(device_.local<std::uint8_t>(c % 64, 0)[(c / 64) * 64 + w], from);
        const double b = value_of(C.u8, constant);
        const double exact = which == 0 ? a + b : which == 1 ? b - a : a * b;
        // Sums and products of two FP8 are exact in f32, or far below its last place.
        int wanted = rounded(static_cast<double>(static_cast<float>(exact)), to, RM_HALF_TO_EVEN, saturate);
        if (wanted == 0xFF) wanted = 0x7F;
        const int got = device_.local<std::uint8_t>(c % 64, 0x4000)[((c / 64) * kW + w) * step];
        ASSERT_EQ(got, wanted) << a << " with " << b << " by " << which;
      }
    }
  }
}

// A group's products are cut 24 bits below the power of two of the largest, then summed.
float group_sum(const std::vector<double>& products) {
  double largest = 0;
  for (const double product : products) largest = std::max(largest, std::abs(product));
  if (largest == 0) return 0;
  const int last_place = std::ilogb(largest) - 24;
  const double scale = std::ldexp(1, -last_place);
  std::int64_t sum = 0;
  for (const double product : products) sum += static_cast<std::int64_t>(product * scale);
  return static_cast<float>(std::ldexp(static_cast<double>(sum), last_place));
}

TEST_F(Fp8, ProductsAreSummedInGroupsOfSixtyFour) {
  constexpr std::uint32_t kLeft = 0, kRight = 0x4000, kBias = 0x8000, kScale = 0xA000, kResult = 0xC000;
  for (int trial = 0; trial < 40; ++trial) {
    const Format &left = in(0, 1) != 0 ? kE4m3 : kE5m2, &right = in(0, 1) != 0 ? kE4m3 : kE5m2;
    const int m = in(1, 70), k = in(1, 200), n = in(1, 90);
    const bool trans = in(0, 1) != 0, has_bias = in(0, 1) != 0, relu = has_bias && in(0, 1) != 0;
    const bool scales = in(0, 1) != 0;
    const auto pitch = [](int bytes) { return (bytes + 63) / 64 * 64; };
    const auto byte_at = [&](std::uint32_t base, int row, int col, int cols) -> std::uint8_t& {
      return device_.local<std::uint8_t>(row % 64, base)[row / 64 * pitch(cols) + col];
    };
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < k; ++j) byte_at(kLeft, i, j, k) = number(left);
    const int right_rows = trans ? n : k, right_cols = trans ? k : n;
    for (int i = 0; i < right_rows; ++i)
      for (int j = 0; j < right_cols; ++j) byte_at(kRight, i, j, right_cols) = number(right);
    // Each NPU reads bias and factors of its own.
    for (int npu = 0; npu < 64; ++npu) {
      for (int j = 0; j < n; ++j) {
        device_.local<float>(npu, kBias)[j] = static_cast<float>(in(-100, 100)) / 8;
        device_.local<float>(npu, kScale)[j] = static_cast<float>(in(1, 64)) / 16;
      }
    }
    var_context_t bias{}, scale{};
    bias.addr = kBias;
    scale.addr = kScale;
    const LaunchOutcome outcome = device_.run([&] {
      if (has_bias) {
        const auto call = trans ? tpu_bdc_fp8_mm_R_trans_with_bias : tpu_bdc_fp8_mm_with_bias;
        call(kResult, kLeft, kRight, m, k, n, DT_FP32, left.code, right.code, DT_FP32, false, false, bias, relu, scales,
             false, scale);
      } else {
        const auto call = trans ? tpu_bdc_fp8_mm_R_trans : tpu_bdc_fp8_mm;
        call(kResult, kLeft, kRight, m, k, n, DT_FP32, left.code, right.code, false, scales, false, scale);
      }
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    // Each number once: emulated processors take long for them.
    std::vector<double> lefts, rights;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < k; ++j) lefts.push_back(value_of(byte_at(kLeft, i, j, k), left));
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < k; ++i)
        rights.push_back(value_of(trans ? byte_at(kRight, j, i, k) : byte_at(kRight, i, j, n), right));
    std::vector<double> products;
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) {
        float sum = has_bias ? device_.local<float>(row % 64, kBias)[col] : 0.0F;
        const double* const a = &lefts[static_cast<std::size_t>(row * k)];
        const double* const b = &rights[static_cast<std::size_t>(col * k)];
        for (int first = 0; first < k; first += 64) {
          products.clear();
          for (int i = first; i < std::min(k, first + 64); ++i) products.push_back(a[i] * b[i]);
          sum += group_sum(products);
        }
        if (relu) sum = std::max(sum, 0.0F);
        if (scales) sum *= device_.local<float>(row % 64, kScale)[col];
        const float got = device_.local<float>(row % 64, kResult)[row / 64 * pitch(4 * n) / 4 + col];
        ASSERT_EQ(got, sum) << "m " << m << " k " << k << " n " << n << " at " << row << ", " << col;
      }
    }
  }
}

TEST(Fp8Elsewhere, AnFp8TypeOnAChipWithoutItIsRefusedByItsCode) {
  TestDevice device;
  const dim4 shape{1, 1, 1, 16};
  device.expect_fault([&] { tpu_bdc_cast(0, 0x1000, &shape, nullptr, nullptr, DT_FP8E4M3, DT_FP32, RM_HALF_TO_EVEN); },
                      "tpu_bdc_cast: dst_dtype (47) is not a data type of bm1684x");
  device.expect_fault(
      [&] { tpu_bdc_fp8_mm(0, 0x1000, 0x2000, 1, 1, 1, DT_FP32, DT_FP8E4M3, DT_FP8E4M3, false, false, false, {}); },
      "tpu_bdc_fp8_mm: BM1684X has no FP8 arithmetic.");
}

TEST_F(Fp8, AFunctionThatDoesNotTakeItSaysWhatItTakes) {
  const dim4 shape{1, 1, 1, 16};
  device_.expect_fault([&] { tpu_bdc_fp_diff_abs(0, 0x1000, 0x2000, &shape, nullptr, nullptr, nullptr, DT_FP8E4M3); },
                       "tpu_bdc_fp_diff_abs: dst type is fp8e4m3 (allowed: ");
}

}  // namespace
}  // namespace softtpu::fp8_test
