// Starting a core: as a forked process of the server, or as a thread.
#pragma once

#include <sys/types.h>

#include "device/server/core_status.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class Memories;

struct CoreProcess {
  pid_t pid = -1;
  UniqueFd pidfd;  // readable when the process has ended
};

// Forks. The server has one thread, so the child may go on with everything that is mapped already: no program start, no
// loading, about a millisecond. The child keeps the memories, the status page and its socket; it ends with the server.
Result<CoreProcess> start_core_process(Memories& memories, int index, CoreStatus& status, UniqueFd socket);

void start_core_thread(Memories& memories, int index, CoreStatus& status, UniqueFd socket);

}  // namespace softtpu
