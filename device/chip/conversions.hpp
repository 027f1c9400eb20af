// What conversions do with subnormals and NaNs on a chip.
#pragma once

#include "device/chip/rules.hpp"
#include "device/numeric/convert.hpp"

namespace softtpu {

inline Specials conversion_specials(const Chip& chip) {
  return chip.has(ChipRule::kExactConversions) ? Specials::kExact : Specials::kFlushed;
}

}  // namespace softtpu
