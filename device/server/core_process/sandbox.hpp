// What a core process with SOFTTPU_SANDBOX may still ask of the system once its kernel modules are loaded: memory,
// threads, time, and reading and writing what is open already. No program, no process, no connection, no file.
#pragma once

#include "runtime/base/result.hpp"

namespace softtpu {

// For all threads of the calling process, for ever. What is not allowed fails with EPERM.
Result<void> enter_sandbox();

}  // namespace softtpu
