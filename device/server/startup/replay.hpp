// Runs a recorded launch again, on a device of this process's own and without the host program that made it.
#pragma once

#include <string>

#include "runtime/base/config.hpp"

namespace softtpu {

// Prints what came of it on standard output. The exit status: 0 when the launch ended as recorded and left the same
// bytes; 1 when not; 125 when it could not be run, with the reason on standard error.
int run_replay(const Settings& settings, const std::string& record_file);

}  // namespace softtpu
