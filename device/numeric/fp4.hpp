// FP4: sign, two bits of exponent, one of mantissa.
#pragma once

#include <array>

namespace softtpu {

inline constexpr std::array<float, 16> kFp4Values = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                                     -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

}  // namespace softtpu
