// Where in the host program a function of libbmlib was called, for checks of device memory.
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace softtpu::host {

// A library whose frames say nothing to the program's author: `place` is anything in it.
bool leave_out_of_call_stacks(const void* place);

// "main.c:20 (main)", innermost first, without frames of softtpu's libraries and of the C library's start-up code. Slow
// (milliseconds) for each place that it has not seen before.
std::vector<std::string> call_stack();

}  // namespace softtpu::host
#pragma GCC visibility pop
