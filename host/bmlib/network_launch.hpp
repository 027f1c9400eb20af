// For libbmrt: launches of compiled networks.
#pragma once

#include <cstdint>
#include <vector>

#include "bmlib_runtime.h"
#include "runtime/protocol/launch.hpp"

#pragma GCC visibility push(default)
namespace softtpu::host {

// One part for each core: the core's number, and what it does.
struct NetworkPart {
  int core = 0;
  msg::NetworkCall call;
};
// One launch of all parts, each on a core of its own. `wait`: until it has ended.
bm_status_t launch_network(bm_handle_t handle, std::vector<NetworkPart> parts, bool wait);
// The address of the first byte of global memory; 0: there is no such device.
std::uint64_t global_memory_start(bm_handle_t handle);

}  // namespace softtpu::host
#pragma GCC visibility pop
