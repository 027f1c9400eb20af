// Constants of networks in device memory. Networks with the same bytes on the same device share them, whichever runtime
// or handle loaded them first; the last one that goes frees them. Any thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "host/bmrt/device_memory.hpp"

namespace softtpu::bmrt {

std::vector<std::uint8_t> hash_constants(std::span<const std::uint8_t> bytes);

// `handle` has to outlive the runtime that asks, not the memory: the memory belongs to the program.
// `digest` is theirs: hash_constants(bytes).
Result<std::shared_ptr<const DeviceMemory>> share_constants(bm_handle_t handle, std::span<const std::uint8_t> bytes,
                                                            const std::vector<std::uint8_t>& digest);

}  // namespace softtpu::bmrt
