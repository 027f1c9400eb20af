// Files that the devices of a program add to: trace, timeline, record of times. The first device of the program, or of
// the whole run under `softtpu run`, whose programs may have several processes, finds them empty.
#pragma once

#include <string>

#include "runtime/base/config.hpp"

namespace softtpu {

// Empties the file unless this process, or another one of the run, has done so. Only regular files are touched; what
// fails here fails again where the file is written. Threads: any.
void begin_file(const std::string& path);
// Those that a device with these settings writes.
void begin_files(const Settings& settings);

}  // namespace softtpu
