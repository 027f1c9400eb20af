#include "tests/reference/bm1684.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "tests/reference/chip_float.hpp"

namespace softtpu::reference::bm1684 {
namespace {

constexpr std::uint32_t kSign = 0x80000000U;
constexpr std::uint32_t kOne = 0x3F800000U;

float value(std::uint32_t bits) { return loaded(bits, Dtype::kFp32); }
std::uint32_t bits(float number) { return std::bit_cast<std::uint32_t>(number); }
bool is_nan(std::uint32_t word) { return (word & ~kSign) > 0x7F800000U; }
std::uint32_t flushed(std::uint32_t word) { return (word & 0x7F800000U) == 0 ? word & kSign : word; }

// e to a whole power, nearest even to f32 with subnormals; only powers that the chip's table holds.
std::uint32_t table_exp(std::int32_t power) {
  if (power < -103 || power > 88) return 0;
  return bits(static_cast<float>(std::exp(static_cast<long double>(power))));
}

std::vector<std::uint32_t> series(int terms) {
  std::vector<std::uint32_t> coefficients{bits(1.0F)};
  for (int k = 1; k <= terms; ++k) {
    const double last = std::bit_cast<float>(coefficients.back());
    coefficients.push_back(flushed(bits(static_cast<float>(last / k))));
  }
  return coefficients;
}

}  // namespace

std::uint32_t add(std::uint32_t a, std::uint32_t b) { return bits(reference::add(value(a), value(b))); }
std::uint32_t sub(std::uint32_t a, std::uint32_t b) { return bits(reference::sub(value(a), value(b))); }
std::uint32_t mul(std::uint32_t a, std::uint32_t b) { return bits(reference::mul(value(a), value(b))); }

bool greater(std::uint32_t a, std::uint32_t b) {
  if (is_nan(a) || is_nan(b)) return false;
  return static_cast<double>(value(a)) > static_cast<double>(value(b));
}
bool equal(std::uint32_t a, std::uint32_t b) { return !greater(a, b) && !greater(b, a); }
std::uint32_t max(std::uint32_t a, std::uint32_t b) { return flushed(greater(a, b) ? a : b); }
std::uint32_t min(std::uint32_t a, std::uint32_t b) { return is_nan(a) || is_nan(b) || greater(a, b) ? b : a; }

std::uint32_t rsqrt(std::uint32_t x) {
  const auto halved = static_cast<std::uint32_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(x)) >> 1);
  std::uint32_t y = 0x5F3759DFU - halved;
  const std::uint32_t half = mul(x, bits(0.5F));
  for (int i = 0; i < 3; ++i) y = mul(y, sub(bits(1.5F), mul(mul(half, y), y)));
  return y;
}
std::uint32_t div(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t r = rsqrt(b & ~kSign);
  return mul(mul(r, r), a ^ (b & kSign));
}
std::uint32_t sqrt(std::uint32_t x) { return div(bits(1.0F), rsqrt(x)); }

std::uint32_t to_int32(std::uint32_t x) {
  double number = std::trunc(static_cast<double>(value(x)));
  if (is_nan(x)) number = (x & kSign) != 0 ? -1e10 : 1e10;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::clamp(number, -2147483648.0, 2147483647.0)));
}

std::uint32_t reciprocal(std::uint32_t x) { return div(kOne, x); }
std::uint32_t neg(std::uint32_t x) { return sub(0, x); }
std::uint32_t relu(std::uint32_t x) { return greater(x, 0) ? x : 0; }
std::uint32_t mac(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return add(mul(a, b), c); }

std::uint32_t lookup_int32_to_fp32(std::uint32_t index) {
  return bits(static_cast<float>(static_cast<std::int8_t>(index & 0xFFU)));
}
std::uint32_t lookup_exp(std::uint32_t index) { return table_exp(static_cast<std::int8_t>(index & 0xFFU)); }

std::uint32_t taylor_exp(std::uint32_t x, int terms) {
  const std::vector<std::uint32_t> c = series(terms);
  std::uint32_t sum = c.back();
  for (std::size_t k = c.size() - 1; k > 0; --k) sum = add(mul(sum, x), c[k - 1]);
  return sum;
}
std::uint32_t exp_series(std::uint32_t x, int terms) {
  const std::uint32_t fraction = sub(x, lookup_int32_to_fp32(to_int32(x)));
  const std::vector<std::uint32_t> c = series(terms);
  std::uint32_t sum = c.back();
  for (std::size_t k = c.size() - 1; k > 1; --k) sum = add(mul(sum, fraction), c[k - 1]);
  return mul(sum, fraction);
}
std::uint32_t exp(std::uint32_t x, int terms) {
  const std::uint32_t power = lookup_exp(to_int32(x));
  return mac(exp_series(x, terms), power, power);
}
std::uint32_t sigmoid(std::uint32_t x, int terms) { return reciprocal(add(exp(neg(x), terms), kOne)); }
std::uint32_t tanh(std::uint32_t x, int terms) {
  const std::uint32_t power = exp(x, terms);
  const std::uint32_t inverse = reciprocal(power);
  return sub(kOne, mul(div(inverse, add(power, inverse)), bits(2.0F)));
}

std::uint32_t shift(std::uint32_t value, std::uint32_t by, bool arithmetic) {
  const int amount = static_cast<int>((by & 63U) ^ 32U) - 32;
  const int places = std::abs(amount) % 32;
  if (amount >= 0) return static_cast<std::uint32_t>(std::uint64_t{value} << places);
  const std::int64_t wide = arithmetic ? static_cast<std::int32_t>(value) : std::int64_t{value};
  return static_cast<std::uint32_t>(wide >> places);
}

std::uint32_t two_lanes(const std::vector<std::uint32_t>& products) {
  if (products.size() == 1) return products[0];
  std::uint32_t sums[2] = {0, 0};
  for (std::size_t i = 0; i < products.size(); ++i) sums[i % 2] = add(sums[i % 2], products[i]);
  return add(sums[0], sums[1]);
}

std::uint32_t four_lanes(const std::vector<std::vector<std::uint32_t>>& products) {
  std::uint32_t sums[2][2] = {};
  for (std::size_t step = 0; step < products.size(); ++step) {
    for (std::size_t parity = 0; parity < products[step].size(); ++parity) {
      sums[parity][step % 2] = add(sums[parity][step % 2], products[step][parity]);
    }
  }
  return add(add(sums[0][1], sums[0][0]), add(sums[1][1], sums[1][0]));
}

std::int64_t finish(std::int64_t value, int rshift, int bits, bool is_signed) {
  if (rshift > 0) {
    // Floor division stands for the shift; the half is exact because the divisor is even.
    const std::int64_t divisor = std::int64_t{1} << rshift;
    const std::int64_t sum = value + divisor / 2;
    value = sum >= 0 ? sum / divisor : -((-sum + divisor - 1) / divisor);
  }
  const std::int64_t span = std::int64_t{1} << bits;
  return is_signed ? std::clamp(value, -span / 2, span / 2 - 1) : std::clamp<std::int64_t>(value, 0, span - 1);
}

std::int64_t shift16(std::int64_t value, std::int64_t by, bool arithmetic) {
  const int amount = static_cast<std::int8_t>(by & 0xFF);
  const int places = std::min(std::abs(amount), 40);
  const std::int64_t wide = arithmetic ? static_cast<std::int16_t>(value) : static_cast<std::uint16_t>(value);
  return (amount >= 0 ? wide * (std::int64_t{1} << places) : wide >> places) & 0xFFFF;
}

std::int64_t s16_mul_u8(std::int64_t a, std::int64_t b, int rshift) {
  constexpr std::int64_t kMost = 32767;
  const std::int64_t magnitude = finish(std::min(std::abs(a), kMost) * b, rshift, 16, true);
  return a < 0 ? -magnitude : magnitude;
}

}  // namespace softtpu::reference::bm1684
