// Requantisation at the end of a product of 8-bit integers.
#pragma once

#include <cstdint>
#include <optional>

#include "device/isa/types.hpp"

namespace softtpu {

// (sum * multiplier shifted) + offset (IntQuantCmd): positive shifts go to the left. Constants, or records for each
// channel: three words (multiplier, shift, offset), [1, c, 1, 3], or two (multiplier; shift, offset), [1, c, 1, 2].
struct Requant {
  std::optional<Tensor> table;
  std::int32_t multiplier = 1;
  int shift = 0;
  std::int32_t offset = 0;
  Rounding rounding = Rounding::kHalfUp;

  bool operator==(const Requant&) const = default;
};

}  // namespace softtpu
