#include "tests/reference/chip_float.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/reference/scaled.hpp"

namespace softtpu::reference {
namespace {

constexpr double kSmallestNormal = 0x1p-126;

struct Format {
  int mantissa_bits;
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
Format format_of(Dtype type) {
  if (type == Dtype::kFp16) return {10, 5};
  if (type == Dtype::kBfp16) return {7, 8};
  return {23, 8};
}

bool is_nan(float value) { return value != value; }

// An exact or correctly rounded double as f32: 24 bits with any exponent, then tiny values to zero.
float narrowed(double exact) {
  if (std::isnan(exact) || std::isinf(exact) || exact == 0) return static_cast<float>(exact);
  int exponent = 0;
  const double fraction = std::frexp(exact, &exponent);
  const double rounded = scaled(std::nearbyint(scaled(fraction, 24)), exponent - 24);
  if (std::fabs(rounded) < kSmallestNormal) return static_cast<float>(std::copysign(0.0, exact));
  if (std::fabs(rounded) >= 0x1p128)
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(exact));
  return static_cast<float>(rounded);
}

float result_of(double exact, float a, float b) {
  const auto quieted = [](float nan) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nan) | 0x00400000U); };
  if (is_nan(a)) return quieted(a);
  if (is_nan(b)) return quieted(b);
  if (std::isnan(exact)) return std::bit_cast<float>(0xFFC00000U);
  return narrowed(exact);
}

}  // namespace

double value_of(std::uint32_t bits, Dtype type) {
  const Format format = format_of(type);
  const std::uint32_t mantissa = bits & ((1U << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits) & 1U) != 0;
  double magnitude = 0;
  if (exponent == (1 << format.exponent_bits) - 1) {
    magnitude = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = scaled(mantissa, 1 - format.bias() - format.mantissa_bits);
  } else {
    magnitude = scaled(mantissa + (1U << format.mantissa_bits), exponent - format.bias() - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

float loaded(std::uint32_t bits, Dtype type) {
  const double value = value_of(bits, type);
  // An f32 NaN keeps its payload; the 16-bit types store every NaN alike.
  if (std::isnan(value)) return std::bit_cast<float>(type == Dtype::kFp32 ? bits : 0x7FC00000U);
  if (type != Dtype::kFp16 && std::fabs(value) < kSmallestNormal) return static_cast<float>(std::copysign(0.0, value));
  return static_cast<float>(value);
}

std::uint32_t stored(float value, Dtype type) {
  if (type == Dtype::kFp32) return std::bit_cast<std::uint32_t>(value);
  if (is_nan(value)) return 0x7FFF;
  const Format format = format_of(type);
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  const double magnitude = std::fabs(static_cast<double>(value));
  const double smallest = scaled(1.0, 1 - format.bias());
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Spacing of the type's values at this magnitude; f16 has subnormals, bf16 results below the normal ones are zero.
  const int step = std::max(exponent - 1, 1 - format.bias()) - format.mantissa_bits;
  const double rounded = scaled(std::nearbyint(scaled(magnitude, -step)), step);
  if (type == Dtype::kBfp16 && magnitude < smallest) return sign;
  if (rounded >= scaled(1.0, format.bias() + 1)) {
    return sign | static_cast<std::uint32_t>((1 << format.exponent_bits) - 1) << format.mantissa_bits;
  }
  if (rounded < smallest)
    return sign | static_cast<std::uint32_t>(scaled(rounded, format.bias() - 1 + format.mantissa_bits));
  const double fraction = std::frexp(rounded, &exponent);
  const auto mantissa =
      static_cast<std::uint32_t>(scaled(fraction, format.mantissa_bits + 1)) - (1U << format.mantissa_bits);
  return sign | static_cast<std::uint32_t>(exponent - 1 + format.bias()) << format.mantissa_bits | mantissa;
}

// Sums and products of two f32 need at most 53 bits or are rounded harmlessly twice (53 >= 2 * 24 + 2).
float add(float a, float b) { return result_of(static_cast<double>(a) + b, a, b); }
float sub(float a, float b) { return result_of(static_cast<double>(a) - b, a, b); }
float mul(float a, float b) { return result_of(static_cast<double>(a) * b, a, b); }

}  // namespace softtpu::reference
