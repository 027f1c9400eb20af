// Where in the kernel's source a public function was called from.
#pragma once

#include <string>

namespace softtpu {

// "device_add.c:42" for the innermost frame outside softtpu, read from the module's debug information; without that the
// kernel function's name; empty when neither is known. Slow (milliseconds): for faults and reports.
std::string call_site();

}  // namespace softtpu
