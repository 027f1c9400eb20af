// Device memory with an owner, through libbmlib.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bmlib_runtime.h"
#include "runtime/base/result.hpp"

namespace softtpu::bmrt {

// bmlib's older descriptor, in which bm_tensor_t has its memory.
inline bm_device_mem_t to_memory(std::uint64_t address, std::uint64_t bytes) {
  bm_device_mem_t memory{};
  bm_set_device_mem(&memory, static_cast<unsigned>(bytes), address);
  return memory;
}

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), memory_(std::exchange(other.memory_, {})) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (handle_ != nullptr) bm_free_device_u64(handle_, memory_);
  }

  static Result<DeviceMemory> make(bm_handle_t handle, std::uint64_t bytes);
  // With these contents.
  static Result<DeviceMemory> make(bm_handle_t handle, std::span<const std::uint8_t> contents);

  Result<std::vector<std::uint8_t>> read() const;

  bool empty() const { return handle_ == nullptr; }
  std::uint64_t address() const { return empty() ? 0 : bm_mem_get_device_addr_u64(memory_); }
  std::uint64_t bytes() const { return empty() ? 0 : bm_mem_get_device_size_u64(memory_); }

 private:
  bm_handle_t handle_ = nullptr;
  bm_device_mem_u64_t memory_{};
};

}  // namespace softtpu::bmrt
