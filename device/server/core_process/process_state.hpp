// What a core process is set to besides its processor: signals, timers, limits, directory, environment, mappings and so
// on. A kernel or a module's constructor can change it, and the next client's kernel would run with that. Used by the
// core's thread, around everything of a module that can (LoadedModules::may_change_process).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/unique_fd.hpp"

namespace softtpu {

class ProcessState {
 public:
  // Keeps what the process is set to now.
  ProcessState();
  // The same again, for a process that has entered a sandbox, where much can be neither changed nor read.
  void note();

  // What is different now, for people ("its signal handlers"); empty: nothing that shows. About a tenth of a
  // millisecond.
  std::string difference();
  // Sets it back, as far as the system lets it be set back.
  void restore();

 private:
  struct File {
    int fd = -1;
    std::string identity;
  };
  void note_files();
  std::string changed_file() const;
  bool made_timers();

  std::vector<std::string> values_;  // of each part, in the order of the list in the source
  std::vector<std::string> status_;  // rows of /proc/self/status
  std::vector<std::string> mappings_;
  std::vector<File> files_;  // that are open from the start
  std::vector<std::string> environment_;
  UniqueFd status_file_, maps_file_, folder_;
  int last_timer_ = -1;
  bool timers_count_on_ = false;
  bool has_timers_ = false;
};

}  // namespace softtpu
