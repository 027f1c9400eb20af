// Source lines of this program's own code.
#pragma once

#include <string>
#include <vector>

namespace softtpu::host {

// "main.c:20 (main)" for the call that returns to an address: the function it stands in and those that the compiler has
// put that one into, innermost first. Without debug information its name alone; nothing where nobody knows.
std::vector<std::string> lines_at(const void* return_address);

}  // namespace softtpu::host
