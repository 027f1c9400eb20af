// The socket to a device, whichever kind the settings choose: a private process, a shared server, a thread of this
// program.
#pragma once

#include <cstdint>

#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"

namespace softtpu {

// `number`: what the program calls the device.
Result<UniqueFd> connect_device(const Settings& settings, std::uint32_t number = 0);

// Kernels that are linked into this program.
unsigned long own_kernel_count();

}  // namespace softtpu
