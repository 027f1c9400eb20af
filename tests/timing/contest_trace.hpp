// Recorded OKKernel call sequences (one call per line) through the timing model.
#pragma once

#include <string>

#include "device/observe/time_model.hpp"

namespace softtpu::timing {

// Estimated time of a trace in microseconds; nullopt for a trace without commands.
// Format of a line: the function without "okk_", then its arguments in the prototype's order: `c` for a constant, `-`
// for a null pointer, n,c,h,w for a dim4, h,w for a dim2, top,bottom,left,right for padding; `[` and `]` bound parallel
// sections.
Result<std::optional<double>> replay_trace(const TimeModel& model, const Chip& chip, const std::string& path);

}  // namespace softtpu::timing
