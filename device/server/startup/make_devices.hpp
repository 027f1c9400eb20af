// The devices of a process, from its settings: chip, observers, the choice of how commands are carried out.
#pragma once

#include <memory>
#include <vector>

#include "device/server/session/device.hpp"

namespace softtpu {

struct DeviceOptions {
  std::uint32_t first = 0;  // number of the first one
  std::uint32_t count = 1;
  bool in_process = false;
  bool many_clients = false;  // of programs that have nothing to do with each other
  bool keep_files = false;    // another device of the program has begun the trace and its like
};

Result<std::vector<std::unique_ptr<Device>>> make_devices(EventLoop& loop, const Settings& settings,
                                                          const DeviceOptions& options);

}  // namespace softtpu
