// How questions answer: numbers and strides as the published interface returns them.
#pragma once

#include <fmt/format.h>

#include <climits>

#include "firmware/call.hpp"

namespace softtpu {

// A size or stride; a fault when the interface's int cannot hold it.
inline int to_int(const Call& call, std::int64_t value) {
  if (value >= INT_MIN && value <= INT_MAX) return static_cast<int>(value);
  call.fault(fmt::format("the result ({}) does not fit into an int", value));
  return 0;
}

inline void store_stride(const Call& call, dim4* out, const Stride4& stride) {
  if (out == nullptr) return call.fault("stride is NULL");
  *out = {to_int(call, stride.n), to_int(call, stride.c), to_int(call, stride.h), to_int(call, stride.w)};
}

}  // namespace softtpu
