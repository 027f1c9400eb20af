// What a kernel module takes from other libraries.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace softtpu {

// Names of the undefined dynamic symbols, weak ones left out. The file has passed check_module(); what is damaged
// beyond that gives an error or fewer names, never an access outside of the file.
Result<std::vector<std::string>> undefined_symbols(int fd, const std::string& name);

// The libraries that the module names (DT_NEEDED), in its order.
Result<std::vector<std::string>> needed_libraries(int fd, const std::string& name);

}  // namespace softtpu
