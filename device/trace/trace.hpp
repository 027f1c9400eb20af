// SOFTTPU_TRACE=file.json: one event for each command, as Chrome trace JSON that Perfetto opens: a process for each
// device, a track for the launches and each engine of a core, the line of the kernel that made the call; times are the
// host's. The file is a complete JSON text after every launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/core/observer.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// Opens the file, and empties it unless `keep`: another device of the program may have begun it. Errors name the path.
Result<std::shared_ptr<Observer>> make_trace(const std::string& path, std::uint32_t device = 0, bool keep = false);

}  // namespace softtpu
