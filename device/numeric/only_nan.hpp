// The NaN of chips on which every f32 NaN that is computed is the same one (device/chip/rules.def: one-f32-nan).
#pragma once

#include <cstdint>

namespace softtpu {

inline constexpr std::uint32_t kOnlyNan = 0x7FFFFFFFU;

}  // namespace softtpu
