// For libbmrt: launches of compiled networks, and their constants. For libbmcv: its place among launches.
#pragma once

#include <cstdint>
#include <vector>

#include "bmlib_runtime.h"
#include "runtime/base/result.hpp"
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
// Copies bytes of a file to device memory of the program.
Result<void> write_from_file(bm_handle_t handle, std::uint64_t address, int fd, std::uint64_t offset,
                             std::uint64_t bytes);
struct GlobalMemory {
  std::uint64_t start = 0, bytes = 0;  // 0: there is no such device
};
GlobalMemory global_memory(bm_handle_t handle);
// For what the chip itself would do in the handle's queue: until everything that the handle was given before is done.
bm_status_t wait_in_queue(const char* function, bm_handle_t handle);

}  // namespace softtpu::host
#pragma GCC visibility pop
