// What the settings of a device say, judged before anything is started: values that read_settings() cannot judge,
// because only the device knows the chips, the rules of the checks and the orders of commands.
#pragma once

#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// The error names the variable and what is wrong with its value.
Result<void> check_device_settings(const Settings& settings);

}  // namespace softtpu
