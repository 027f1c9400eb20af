// Requantisation at the end of a product of 8-bit integers.
#pragma once

#include <cstdint>
#include <optional>

#include "device/isa/types.hpp"

namespace softtpu {

// (sum * multiplier shifted) + offset, as IntQuantCmd computes it: positive shifts go to the left. The parameters are
// constants, or three words (multiplier, shift, offset) for each channel of the result: [1, c, 1, 3].
struct Requant {
  std::optional<Tensor> table;
  std::int32_t multiplier = 1;
  int shift = 0;
  std::int32_t offset = 0;
  Rounding rounding = Rounding::kHalfUp;

  bool operator==(const Requant&) const = default;
};

}  // namespace softtpu
