// Kernel modules that a compiler has instrumented (-fsanitize): what they need of the process that loads them.
#pragma once

#include <string>

#include "runtime/base/result.hpp"

namespace softtpu {

struct Instrumentation {
  // The library that has to come before all others in the process, AddressSanitizer's: a path, or a name that the
  // loader finds. Empty: none has to.
  std::string first;
  // One to load before the module, which does not name it. Empty: none.
  std::string before;
};

// Of a module that has passed check_module(). An error names a sanitizer that kernels cannot have, or a runtime that is
// not installed; it does not name the module.
Result<Instrumentation> find_instrumentation(int fd);

// Whether AddressSanitizer's runtime is in this process.
bool has_address_sanitizer();

}  // namespace softtpu
