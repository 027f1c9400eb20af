// Starting a core as a forked process of the server.
#pragma once

#include <sys/types.h>

#include "device/server/core_runner.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

struct CoreProcess {
  pid_t pid = -1;
  UniqueFd pidfd;  // readable when the process has ended
};

// Forks. The server has one thread, so the child may go on with everything that is mapped already: no program start, no
// loading, about a millisecond. The child keeps what the setup refers to, its socket and regular files; it ends with
// the server.
Result<CoreProcess> start_core_process(const CoreSetup& setup, UniqueFd socket);

}  // namespace softtpu
