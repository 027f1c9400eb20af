// Runs a launch several times from the same state, each time with another legal order of its commands, and reports
// where the results differ (SOFTTPU_SCHEDULES).
#pragma once

#include <cstdint>
#include <functional>

#include "device/core/core.hpp"
#include "device/observers/device_observers.hpp"

namespace softtpu {

// `run` runs the launch on the core, with the kernel's arguments as they were at first. The memories, and what is
// answered, are those of the first run, in program order.
LaunchOutcome run_schedules(Core& core, const DeviceObservers& observers, const std::function<LaunchOutcome()>& run);

}  // namespace softtpu
