// Memory descriptors. The SDK has three structs for one idea; templates over them keep each rule in one place.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "bmlib_runtime.h"
#include "runtime/base/result.hpp"

namespace softtpu::host {

template <class Mem>
inline constexpr std::uint64_t kMaxSize = std::numeric_limits<decltype(Mem::size)>::max();

template <class Mem>
Mem make_descriptor(std::uint64_t address, std::uint64_t bytes) {
  Mem mem{};
  mem.u.device.device_addr = address;
  mem.u.device.dmabuf_fd = -1;
  mem.flags.u.mem_type = BM_MEM_TYPE_DEVICE;
  mem.size = static_cast<decltype(mem.size)>(bytes);
  return mem;
}

// A range of device memory, checked against the descriptor that it belongs to.
struct Range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

// `role` names the descriptor's parameter in the message.
Result<Range> make_range(const char* role, bm_mem_type_t type, std::uint64_t address, std::uint64_t size,
                         std::uint64_t offset, std::uint64_t bytes);

template <class Mem>
Result<Range> make_range(const char* role, const Mem& mem, std::uint64_t offset, std::uint64_t bytes) {
  return make_range(role, mem.flags.u.mem_type, mem.u.device.device_addr, mem.size, offset, bytes);
}

template <class Mem>
Result<Range> make_range(const char* role, const Mem& mem) {
  return make_range(role, mem, 0, mem.size);
}

}  // namespace softtpu::host
