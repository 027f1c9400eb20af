// The kernel that carries out compiled networks: a launch like any other, with its limits, checks, traces and reports.
#pragma once

#include <string_view>

#include "runtime/module/kernel_registry.hpp"

namespace softtpu::network {

// The kernel behind a name that softtpu itself gives a meaning; nullptr: none. Any thread.
KernelFunction find_kernel(std::string_view name);

}  // namespace softtpu::network
