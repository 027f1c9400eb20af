// SOFTTPU_TRACE=file.json: one event for each command, as Chrome trace JSON that Perfetto opens. One track per engine
// and core; times are the host's. The file is a complete JSON text after every launch.
#pragma once

#include <memory>
#include <string>

#include "device/core/observer.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// Opens (and empties) the file. Errors name the path.
Result<std::shared_ptr<Observer>> make_trace(const std::string& path);

}  // namespace softtpu
