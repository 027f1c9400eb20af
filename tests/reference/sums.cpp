#include "tests/reference/sums.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/reference/scaled.hpp"

namespace softtpu::reference {
namespace {

constexpr double kLeastNormal = 0x1p-126;
const float kNan = std::bit_cast<float>(0xFFC00000U);

float settled(float value) { return std::isnan(value) ? kNan : value; }
float flushed(float value) {
  return std::fabs(value) < static_cast<float>(kLeastNormal) ? std::copysign(0.0F, value) : value;
}

// Nearest even to `bits` significant bits, any exponent.
double round_to_bits(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int shift = bits - 1 - std::ilogb(value);
  return scaled(std::nearbyint(scaled(value, shift)), -shift);
}

double half_value(std::uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 31U);
  const double mantissa = bits & 0x3FFU;
  if (exponent == 31) return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * HUGE_VAL;
  if (exponent == 0) return sign * scaled(mantissa, -24);
  return sign * scaled(mantissa + 1024, exponent - 25);
}

double half_rounded(double value) {
  const double magnitude = std::fabs(value);
  double result = magnitude < 0x1p-14 ? std::nearbyint(magnitude * 0x1p24) * 0x1p-24 : round_to_bits(magnitude, 11);
  if (result > 65504) result = HUGE_VAL;
  return std::copysign(result, value);
}

}  // namespace

double value_of(std::uint32_t bits, Float type) {
  if (type == Float::kF16) return half_value(bits);
  const float value = std::bit_cast<float>(type == Float::kBf16 ? bits << 16 : bits);
  return static_cast<double>(flushed(value));
}

std::uint32_t bits_of(float value, Float type) {
  if (type == Float::kF32) return std::bit_cast<std::uint32_t>(settled(value));
  if (std::isnan(value)) return 0x7FFF;
  const float stored = rounded(value, type);
  if (type == Float::kBf16) return std::bit_cast<std::uint32_t>(stored) >> 16;
  const std::uint32_t sign = std::signbit(stored) ? 0x8000U : 0U;
  const double magnitude = std::fabs(static_cast<double>(stored));
  if (std::isinf(magnitude)) return sign | 0x7C00U;
  if (magnitude < 0x1p-14) return sign | static_cast<std::uint32_t>(magnitude * 0x1p24);
  const int exponent = std::ilogb(magnitude);
  return sign | static_cast<std::uint32_t>(exponent + 15) << 10 |
         (static_cast<std::uint32_t>(scaled(magnitude, 10 - exponent)) & 0x3FFU);
}

float multiply(double a, double b) {
  const double exact = a * b;
  if (std::fabs(round_to_bits(exact, 24)) < kLeastNormal) return std::copysign(0.0F, static_cast<float>(exact));
  return settled(static_cast<float>(exact));
}
float rounded_sum(float a, float b) { return settled(flushed(flushed(a) + flushed(b))); }

float rounded(float value, Float type) {
  if (type == Float::kF32 || std::isnan(value)) return settled(value);
  if (type == Float::kF16) return static_cast<float>(half_rounded(static_cast<double>(value)));
  return flushed(static_cast<float>(round_to_bits(static_cast<double>(flushed(value)), 8)));
}

float rounded_product(double a, double b, Float type) {
  if (type != Float::kBf16) return rounded(multiply(a, b), type);
  const double exact = round_to_bits(a * b, 8);
  if (std::isnan(exact)) return kNan;
  if (std::fabs(exact) < kLeastNormal) return std::copysign(0.0F, static_cast<float>(exact));
  return static_cast<float>(exact);
}

float group_sum(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<float> products;
  int top = std::numeric_limits<int>::min();
  bool plus = false, minus = false, nan = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const float product = multiply(a[i], b[i]);
    products.push_back(product);
    nan = nan || std::isnan(product);
    plus = plus || product == HUGE_VALF;
    minus = minus || product == -HUGE_VALF;
    if (product != 0 && std::isfinite(product)) top = std::max(top, std::ilogb(product));
  }
  if (plus || minus) return plus && minus ? kNan : plus ? HUGE_VALF : -HUGE_VALF;
  if (nan) return kNan;
  if (top == std::numeric_limits<int>::min()) return 0;
  std::int64_t sum = 0;
  for (const float product : products) {
    sum += static_cast<std::int64_t>(std::trunc(scaled(static_cast<double>(product), 24 - top)));
  }
  return flushed(static_cast<float>(scaled(static_cast<double>(sum), top - 24)));
}

void TwoLanes::put(float addend) {
  lanes_[next_] = rounded(rounded_sum(lanes_[next_], addend), type_);
  next_ ^= 1;
}
float TwoLanes::result() const { return rounded(rounded_sum(lanes_[0], lanes_[1]), type_); }

}  // namespace softtpu::reference
