// Whether a core whose kernel shows no progress will ever go on. Used by the server, which looks at the core's threads
// from time to time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace softtpu {

// Whether a signal has stopped the process.
bool is_process_stopped(pid_t process);

class SleepCheck {
 public:
  // A sentence's end, "waits for ever: ..."; empty: it runs, may be woken, or that is unknown. Two looks must agree,
  // with nothing having run in between.
  std::string look(pid_t core);
  void forget() { seen_ = {}; }

 private:
  struct Look {
    pid_t core = 0;
    std::string verdict;
    std::uint64_t switches = 0;  // how often its threads have gone to sleep
  };
  static Look look_once(pid_t core);
  Look seen_;
};

}  // namespace softtpu
