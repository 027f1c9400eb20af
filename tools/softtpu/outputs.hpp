// Files that a run shall write: what cannot be written is said before the program starts, not after.
#pragma once

#include <string>

#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"

namespace softtpu::cli {

// A file that could be written, or made, now; it is left as it is. The error begins with `option`.
Result<void> check_writable(const std::string& option, const std::string& path);

// Every file and folder that the settings of a private device name: checked, the folder made, and under a name that
// does not depend on the folder that the program runs in.
Result<void> prepare_outputs(Settings& settings);

}  // namespace softtpu::cli
