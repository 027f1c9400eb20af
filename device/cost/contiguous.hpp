// How long the runs are that a copy moves at once.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

// Elements that follow each other without a gap on both sides of a copy, at most one channel.
inline std::int64_t contiguous_elements(const Dim4& shape, const Stride4& a, const Stride4& b) {
  if (shape.w > 1 && (a.w != 1 || b.w != 1)) return 1;
  if (shape.h > 1 && (a.h != shape.w || b.h != shape.w)) return shape.w;
  return std::int64_t{shape.h} * shape.w;
}

}  // namespace softtpu
