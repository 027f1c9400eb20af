// The sets of limits that rows of the operations table name (device/isa/limits.def). device/chip/limits.hpp has their
// ranges, which can depend on the chip.
#pragma once

#include <cstdint>

namespace softtpu {

// BM1684 has the coefficients of series up to so many terms.
inline constexpr int kMaxOkkSeries = 64;

enum class Limits : std::uint8_t {
  kNone,
#define LIMIT(...)
#define INCLUDE(...)
#define LIMITS(name, ...) name,
#include "device/isa/limits.def"
};

}  // namespace softtpu
