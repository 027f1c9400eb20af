// What element-wise commands want of their result.
#pragma once

#include <fmt/format.h>

#include "device/chip/rules.hpp"
#include "device/core/checks.hpp"

namespace softtpu {

// Type, shape and place of dst, and whether each of its elements has a place of its own in a row.
inline Checks& check_target(Checks& check, const Tensor& dst) {
  check.target(dst);
  const bool stands = dst.stride.w == 0 && dst.shape.w > 1;
  return check.require(!stands || !check.chip().has(ChipRule::kNoZeroWStride), "constraint/stride", [&] {
    return fmt::format("dst w stride is 0: all {} elements of a row would lie in one place", dst.shape.w);
  });
}

}  // namespace softtpu
