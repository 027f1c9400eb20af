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

// A product that goes more than 63 places to the left keeps its sign beside 127 bits (golden bm1688/new_pool,
// depthwise2d_requant_pc_asym_C/012). Nothing that is made of it tells results beyond 100 bits apart.
inline Int128 shifted_far(Int128 product, int left) {
  __extension__ using Bits = unsigned __int128;
  constexpr Bits kSign = Bits{1} << 127;
  constexpr Int128 kMost = Int128{1} << 100;
  const Bits bits = static_cast<Bits>(product) << left;
  return std::clamp(static_cast<Int128>(product < 0 ? bits | kSign : bits & ~kSign), -kMost, kMost);
}

// Bits of a product that Shifter<std::int64_t> takes with this shift.
constexpr bool fits_64(int bits, int shift) { return bits + (shift > 0 ? shift : 0) <= 60; }

}  // namespace softtpu
