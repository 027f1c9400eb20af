// What a kernel module takes from other libraries.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu {

// Names of the undefined dynamic symbols, weak ones left out. The file has passed check_module(); what is damaged
// beyond that gives an error or fewer names, never an access outside of the file.
Result<std::vector<std::string>> undefined_symbols(int fd, const std::string& name);

// Those of them that a launch can reach: functions which the module's kernels call, directly or through others. What is
// linked in beside the kernels, and never called by them, needs nothing on the chip. All of them where that cannot be
// said: the module registers no kernel (any exported function may be one), or it is made for another processor.
Result<std::vector<std::string>> reachable_symbols(int fd, const std::string& name);

// The libraries that the module names (DT_NEEDED), in its order.
Result<std::vector<std::string>> needed_libraries(int fd, const std::string& name);

}  // namespace softtpu
