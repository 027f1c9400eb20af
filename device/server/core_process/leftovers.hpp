// Threads and processes that a kernel has started and not ended. They could write to the memories at any later time, so
// the core that they are in cannot be used any more. Used by a core process around launches of modules that can start
// any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class Leftovers {
 public:
  Leftovers();

  void before_launch();
  // "has returned while 1 thread that it started was running"; empty: nothing is left. In a process that the kernel has
  // forked and that returned from it as well, does not return.
  std::string after_launch() const;

 private:
  std::uint64_t threads_now() const;
  bool has_neighbour() const;

  UniqueFd folder_;  // /proc/self/task; open from the start, since a sandbox forbids to open it later
  const bool in_namespace_;
  pid_t process_ = 0;
  std::uint64_t threads_ = 0;
};

}  // namespace softtpu
