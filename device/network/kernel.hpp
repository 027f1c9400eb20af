// The kernel that carries out compiled networks: a launch like any other, with its limits, checks, traces and reports.
#pragma once

#include "runtime/module/kernel_registry.hpp"

namespace softtpu::network {

// Its argument is a msg::NetworkCall.
KernelFunction kernel();

}  // namespace softtpu::network
