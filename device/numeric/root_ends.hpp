// What a reciprocal square root gives at its ends (device/chip/rules.def).
#pragma once

#include <cstdint>

namespace softtpu {

enum class RootEnds : std::uint8_t {
  kSteps,       // what the steps give
  kNoInfinity,  // outside of quotients: +Inf becomes +0, the root of -0 is -0
  kIeee,        // also in quotients: 1 / sqrt(+Inf) is 0, of a zero an infinity; a NaN or a negative number gives NaN
  kFlushed,     // as kIeee with subnormals as zeros; the square root of one is 0 times infinity
  kInType,      // the same of 16-bit floats, with every step rounded to the type (steps_in_type.hpp)
};

}  // namespace softtpu
