// value * 2^exponent, as std::ldexp gives it, without a call for each number.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace softtpu::reference {

inline double scaled(double value, int exponent) {
  if (exponent < -1022 || exponent > 1023) return std::ldexp(value, exponent);  // 2^exponent is no normal number
  return value * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

}  // namespace softtpu::reference
