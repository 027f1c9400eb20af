// The supervisor of a core: the process between server and core (core_process.hpp).
#pragma once

#include <sys/types.h>

#include "device/server/core_process/core_runner.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// Where a supervisor is, and its core with it.
struct Confinement {
  bool own_namespace = false;  // it is the first process of a PID namespace
  bool own_user = false;       // which lies in a user namespace of its own
  uid_t user = 0;
  gid_t group = 0;
};

// What the core, before it begins, and the supervisor tell the server through their channel, each in a message of its
// own. The system adds the sender's process number (SCM_CREDENTIALS).
enum class SupervisorNote : int { kCoreIsHere = 1, kReady, kFailed, kCoreEnded };
struct SupervisorMessage {
  SupervisorNote note{};
  int status = 0;  // of kFailed an errno, of kCoreEnded as of waitpid()
};

// What a fork of the server becomes, whose signals are blocked (SignalsBlocked). Forks the core. Ends when the core has
// ended, or when the other end of the channel is closed, after everything that the core has started.
[[noreturn]] void run_supervisor(const CoreSetup& setup, UniqueFd socket, const UniqueFd& channel,
                                 const Confinement& place);

}  // namespace softtpu
