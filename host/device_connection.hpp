// The socket to a device, whichever kind the settings choose: a private process, a shared server, a thread of this program.
#pragma once

#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

Result<UniqueFd> connect_device(const Settings& settings);

}  // namespace softtpu
