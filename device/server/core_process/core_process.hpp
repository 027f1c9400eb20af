// Starting a core as a forked process of the server, in a place from which nothing that it starts escapes.
//
//     server -- supervisor -- core -- whatever its kernels start
//
// The supervisor is a process that does nothing but wait for the core, end what the core has left, and tell how the
// core ended. Where the system allows it without rights, it is the first process of a PID namespace (in a user
// namespace of its own): the system then ends everything in it together with the supervisor, and nothing in it can name
// a process outside. Elsewhere it adopts what loses its parent (PR_SET_CHILD_SUBREAPER), looks for it and ends it.
#pragma once

#include <sys/types.h>

#include "device/server/core_process/core_runner.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// Used on the server's thread.
class CoreProcess {
 public:
  CoreProcess() = default;
  CoreProcess(CoreProcess&& other) noexcept;
  CoreProcess& operator=(CoreProcess&& other) noexcept;
  CoreProcess(const CoreProcess&) = delete;
  CoreProcess& operator=(const CoreProcess&) = delete;
  ~CoreProcess();

  // Forks. The server has one thread, so the core may go on with everything that is mapped already: no program start,
  // no loading, about a millisecond. It keeps what the setup refers to, its socket and what observers write to; all
  // else is closed and unmapped.
  static Result<CoreProcess> start(const CoreSetup& setup, UniqueFd socket);

  // Of the core itself, as this process counts.
  pid_t pid() const { return pid_; }
  // Readable when the core and everything that it has started are gone.
  int ended() const { return pidfd_.get(); }
  // To the core itself.
  void signal(int number) const;
  // Ends the core, if it runs, with everything that it has started. How the core ended, as waitpid() says it.
  int finish();

 private:
  static Result<CoreProcess> start(const CoreSetup& setup, const UniqueFd& socket, bool own_namespace);

  pid_t pid_ = -1, supervisor_ = -1;
  UniqueFd pidfd_;    // of the supervisor
  UniqueFd channel_;  // to the supervisor, which ends when this is closed
  bool own_namespace_ = false;
};

}  // namespace softtpu
