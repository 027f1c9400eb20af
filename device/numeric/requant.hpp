// The arithmetic of integer requantisation.
#pragma once

#include "device/numeric/shift.hpp"

namespace softtpu {

// (value * multiplier shifted) + offset. The shifted product wraps round at 64 bits (golden bm1684x/limits/061).
template <class Acc>
Acc requantised(std::int64_t value, std::int64_t multiplier, const Shifter<Acc>& shift, std::int64_t offset) {
  return Acc{static_cast<std::int64_t>(shift(static_cast<Acc>(value) * multiplier))} + offset;
}

// Bits of a product that Shifter<std::int64_t> takes with this shift.
constexpr bool fits_64(int bits, int shift) { return bits + (shift > 0 ? shift : 0) <= 60; }

}  // namespace softtpu
