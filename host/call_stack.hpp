// Where in the host program a function of libbmlib was called, for checks of device memory.
#pragma once

#include <string>
#include <vector>

namespace softtpu::host {

// "main.c:20 (main)", innermost first, without frames of this library and of the C library's start-up code. Slow
// (milliseconds) for each place that it has not seen before.
std::vector<std::string> call_stack();

}  // namespace softtpu::host
