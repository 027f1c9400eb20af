// SIMD rows of conversions; nullptr where there is none.
#pragma once

#include "device/engines/bdc/convert/command.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"
#include "device/numeric/convert.hpp"

namespace softtpu {

UnaryRow fast_cast_row(Dtype to, Dtype from, Rounding rounding, Specials specials);

}  // namespace softtpu
