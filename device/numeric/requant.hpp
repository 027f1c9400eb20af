// The arithmetic of integer requantisation.
#pragma once

#include "device/numeric/shift.hpp"

namespace softtpu {

// (value * multiplier shifted). The shifted product wraps round at 64 bits (golden bm1684x/limits/061), unless it is
// `uncut` (golden bm1688/limits/061).
template <class Acc>
Acc shifted_product(std::int64_t value, std::int64_t multiplier, const Shifter<Acc>& shift, bool uncut) {
  const Acc product = shift(static_cast<Acc>(value) * multiplier);
  return uncut ? product : Acc{static_cast<std::int64_t>(product)};
}

// A product that keeps its sign beside the low 63 bits.
template <class Acc>
Acc within_64(Acc product) {
  if constexpr (sizeof(Acc) > sizeof(std::int64_t)) {
    const Acc beyond = Acc{1} << 63;
    const Acc kept = product & (beyond - 1);
    return product < 0 ? kept - beyond : kept;
  }
  return product;
}

// Bits of a product that Shifter<std::int64_t> takes with this shift.
constexpr bool fits_64(int bits, int shift) { return bits + (shift > 0 ? shift : 0) <= 60; }

}  // namespace softtpu
