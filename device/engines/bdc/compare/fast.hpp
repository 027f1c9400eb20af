// SIMD rows of comparison and selection; nullptr where there is none.
#pragma once

#include "device/engines/bdc/compare/command.hpp"
#include "device/engines/bdc/rows/fast_rows.hpp"

namespace softtpu {

SelectRow fast_select_row(Compare compare, Dtype compared, int selected_bytes);

}  // namespace softtpu
