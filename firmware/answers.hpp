// How questions answer with strides, as the published interface returns them.
#pragma once

#include "firmware/call.hpp"

namespace softtpu {

inline dim4 to_dim4(const Call& call, const Stride4& stride) {
  return {call.to_int(stride.n), call.to_int(stride.c), call.to_int(stride.h), call.to_int(stride.w)};
}

inline void store_stride(const Call& call, dim4* out, const Stride4& stride) {
  if (call.given("stride", out)) *out = to_dim4(call, stride);
}

}  // namespace softtpu
