#include "tests/reference/sfu.hpp"

#include <bit>

#include "tests/reference/chip_float.hpp"

namespace softtpu::reference {
namespace {

// The operand of a root: f32 with its subnormals, the other types as loaded.
std::uint32_t root_operand(std::uint32_t bits, Dtype type) {
  return type == Dtype::kFp32 ? bits : std::bit_cast<std::uint32_t>(loaded(bits, type));
}

float inverse_root(std::uint32_t operand, int iterations) {
  const auto halved = static_cast<std::uint32_t>(static_cast<std::int32_t>(operand) >> 1);
  float y = loaded(0x5F3759DFU - halved, Dtype::kFp32);
  const float half = mul(loaded(operand, Dtype::kFp32), 0.5F);
  for (int i = 0; i < iterations; ++i) y = mul(y, sub(1.5F, mul(mul(half, y), y)));
  return y;
}

}  // namespace

std::uint32_t taylor(std::uint32_t x, const std::vector<std::uint32_t>& coeff, Dtype type) {
  const float point = loaded(x, type);
  std::uint32_t sum = coeff.back();
  for (std::size_t term = coeff.size() - 1; term-- > 0;) {
    const std::uint32_t product = stored(mul(loaded(sum, type), point), type);
    sum = stored(add(loaded(product, type), loaded(coeff[term], type)), type);
  }
  return sum;
}

std::uint32_t rsqrt(std::uint32_t x, int iterations, Dtype type) {
  return stored(inverse_root(root_operand(x, type), iterations), type);
}

std::uint32_t sqrt(std::uint32_t x, int iterations, Dtype type) {
  return stored(mul(inverse_root(root_operand(x, type), iterations), loaded(x, type)), type);
}

std::uint32_t divide(std::uint32_t a, std::uint32_t b, int iterations, Dtype type) {
  const std::uint32_t operand = root_operand(b, type);
  const float root = inverse_root(operand & 0x7FFFFFFFU, iterations);
  const float numerator = loaded(a, type);
  const bool nan = (operand & 0x7FFFFFFFU) > 0x7F800000U;
  const std::uint32_t sign = nan ? 0U : operand & 0x80000000U;
  return stored(mul(mul(root, root), std::bit_cast<float>(std::bit_cast<std::uint32_t>(numerator) ^ sign)), type);
}

std::uint32_t exponent_part(std::uint32_t x, Dtype type, bool as_integer) {
  const int mantissa_bits = type == Dtype::kFp32 ? 23 : type == Dtype::kFp16 ? 10 : 7;
  const std::uint32_t field = type == Dtype::kFp16 ? 31 : 255;
  const std::uint32_t sign = x >> (type == Dtype::kFp32 ? 31 : 15);
  const double third = static_cast<double>(1U << mantissa_bits) / 3;
  std::uint32_t exponent = x >> mantissa_bits & field;
  if (sign == 0 && (x & ((1U << mantissa_bits) - 1)) > static_cast<std::uint32_t>(third + 0.5)) ++exponent;
  if (as_integer) return exponent;
  return exponent > field ? 0 : exponent << mantissa_bits | sign << (type == Dtype::kFp32 ? 31 : 15);
}

}  // namespace softtpu::reference
