// The rounding of single products, which processors do not agree on where results become too small.
#include "device/numeric/float_modes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "device/core/processor_state.hpp"
#include "device/numeric/float_unit.hpp"

namespace softtpu::float_modes_test {
namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
float number(std::uint32_t mantissa, int power) { return std::ldexp(static_cast<float>(mantissa), power); }

// The product of two normal numbers in integers: rounded to 24 bits with any exponent, then zero if below 2^-126.
std::uint32_t exact_product(float a, float b) {
  const auto mantissa = [](float value) { return std::uint64_t{(bits_of(value) & 0x7FFFFFU) | 0x800000U}; };
  const auto exponent = [](float value) { return static_cast<int>(bits_of(value) >> 23 & 0xFFU) - 150; };
  const std::uint32_t sign = (bits_of(a) ^ bits_of(b)) & 0x80000000U;
  std::uint64_t product = mantissa(a) * mantissa(b);
  int power = exponent(a) + exponent(b);
  const int drop = 64 - std::countl_zero(product) - 24;
  const std::uint64_t rest = product & ((std::uint64_t{1} << drop) - 1), half = std::uint64_t{1} << (drop - 1);
  product >>= drop;
  power += drop;
  if (rest > half || (rest == half && (product & 1) != 0)) ++product;
  if (product == 1U << 24) product >>= 1, ++power;
  const int biased = power + 150;
  if (biased < 1) return sign;
  if (biased > 254) return sign | 0x7F800000U;
  return sign | static_cast<std::uint32_t>(biased) << 23 | (static_cast<std::uint32_t>(product) & 0x7FFFFFU);
}

TEST(FloatModes, ProductsAreRoundedBeforeTheyAreFoundTooSmall) {
  std::mt19937 random(3);
  int least = 0;
  const FpuScope modes;
  for (int i = 0; i < 200000; ++i) {
    // The second mantissa is close to what makes the product a power of two.
    const auto a = static_cast<std::uint32_t>(0x800000U + random() % 0x800000U);
    const std::uint32_t near = static_cast<std::uint32_t>((std::uint64_t{1} << 47) / a) + random() % 4;
    const std::uint32_t b = i % 4 == 0 ? static_cast<std::uint32_t>(0x800000U + random() % 0x800000U)
                                       : std::min(std::max(near, 0x800000U), 0xFFFFFFU);
    const int power = -20 - static_cast<int>(random() % 120);
    const float x = number(a, power) * (i % 2 == 0 ? 1.0F : -1.0F), y = number(b, -173 - power);
    if (std::abs(x) < 0x1p-126F || std::abs(y) < 0x1p-126F) continue;
    ASSERT_EQ(bits_of(float_product(x, y)), exact_product(x, y)) << std::hexfloat << x << " * " << y;
    ASSERT_EQ(bits_of(chip_mul(y, x)), exact_product(x, y));
    least += (exact_product(x, y) & 0x7FFFFFFFU) == 0x00800000U ? 1 : 0;
  }
  EXPECT_GT(least, 100);
}

TEST(FloatModes, SmallSumsAndOperandsAreZeros) {
  const FpuScope modes;
  volatile float least = 0x1p-126F, above = 0x1.8p-126F, subnormal = 0x1p-130F;
  EXPECT_EQ(bits_of(chip_sub(least, above)), 0x80000000U);
  EXPECT_EQ(bits_of(chip_add(subnormal, least)), 0x00800000U);
  EXPECT_EQ(bits_of(float_product(subnormal, 0x1p100F)), 0U);
  EXPECT_EQ(bits_of(float_product(-subnormal, 0x1p100F)), 0x80000000U);
}

TEST(FloatModes, NansAreTheChips) {
  const FpuScope modes;
  volatile float infinity = std::bit_cast<float>(0x7F800000U), zero = 0;
  const float signalling = std::bit_cast<float>(0x7F800123U), quiet_one = std::bit_cast<float>(0xFFC00456U);
  EXPECT_EQ(bits_of(chip_mul(infinity, zero)), kNanInvalid);
  EXPECT_EQ(bits_of(chip_sub(infinity, infinity)), kNanInvalid);
  EXPECT_EQ(bits_of(chip_add(quiet_one, signalling)), 0xFFC00456U);
  EXPECT_EQ(bits_of(chip_add(1.0F, signalling)), 0x7FC00123U);
}

// Division is the processor's own: quotients never lie where processors differ.
TEST(FloatModes, QuotientsKeepAwayFromTheLeastNormalNumber) {
  const FpuScope modes;
  // The quotient of 24-bit mantissas that comes nearest to the next power of two from below.
  volatile float below_two = 0x1.fffffep0F, one = 1.0F, power = 0x1p-126F;
  EXPECT_EQ(bits_of(power * (one / below_two)), 0U);
  EXPECT_EQ(bits_of((below_two * 0x1p-127F) / one), 0U);
}

TEST(FloatModes, EndWithTheirScope) {
  volatile float subnormal = 0x1p-130F;
  {
    const FpuScope modes;
    EXPECT_EQ(bits_of(subnormal * 2.0F), 0U);
  }
  EXPECT_EQ(bits_of(subnormal * 2.0F), bits_of(0x1p-129F));
  reset_processor_state();
  EXPECT_EQ(bits_of(subnormal * 2.0F), bits_of(0x1p-129F));
}

}  // namespace
}  // namespace softtpu::float_modes_test
