// The core of a program that contains its kernels: a thread of that program, on a stack of its own.
//
// A kernel that crashes there ends its launch with the cause, as one in a core process does, when the crash happened in
// the kernel's own code or in what it directly called of softtpu: nothing is locked or half done then but the kernel's
// own work. Any other crash - inside the C library, in a thread that the kernel started - cannot be made safe: its
// cause is printed, and the signal ends the program.
#pragma once

#include "device/server/core_process/core_runner.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// Runs the core for the rest of the program's life.
Result<void> start_core_thread(const CoreSetup& setup, UniqueFd socket);

}  // namespace softtpu
