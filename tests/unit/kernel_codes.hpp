// The device's types and rounding modes as kernels pass them.
#pragma once

#include "device/isa/types.hpp"
#include "tpu_kernel.h"

namespace softtpu {

inline data_type_t code(Dtype type) { return static_cast<data_type_t>(type); }
inline rounding_mode_t code(Rounding mode) { return static_cast<rounding_mode_t>(mode); }

}  // namespace softtpu
