// Source lines of code in this process.
#pragma once

#include <vector>

#include "runtime/report/finding.hpp"

namespace softtpu {

// Of an address inside an instruction: the function that it belongs to and those that the compiler has put that one
// into, innermost first. Without debug information its name alone; nothing where it is unknown. The first address in a
// program or library takes milliseconds, or more where its debug information is large.
std::vector<SourceLine> lines_at(const void* code);

}  // namespace softtpu
