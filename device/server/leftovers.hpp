// Threads and processes that a kernel has started and not ended. They could write to the memories at any later time, so
// the core that they are in cannot be used any more. Used by a core process around launches of modules that can start
// any.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <set>
#include <string>

namespace softtpu {

class Leftovers {
 public:
  Leftovers();
  ~Leftovers();
  Leftovers(const Leftovers&) = delete;
  Leftovers& operator=(const Leftovers&) = delete;

  void before_launch();
  // "has returned while 1 thread that it started was running"; empty: nothing is left. In a process that the kernel has
  // forked and that returned from it as well, does not return.
  std::string after_launch() const;

 private:
  std::set<pid_t> threads_now() const;

  DIR* folder_;  // /proc/self/task; open from the start, since a sandbox lets nobody open it later
  pid_t process_ = 0;
  std::set<pid_t> threads_;
};

}  // namespace softtpu
