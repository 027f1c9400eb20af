#include "host/bmrt/device_memory.hpp"

#include <fmt/format.h>

namespace softtpu::bmrt {

Result<DeviceMemory> DeviceMemory::make(bm_handle_t handle, std::uint64_t bytes) {
  DeviceMemory made;
  if (bm_malloc_device_byte_u64(handle, &made.memory_, bytes) != BM_SUCCESS)
    return Error{ErrorKind::kResource, fmt::format("the device has no {} bytes of memory for it", bytes)};
  made.handle_ = handle;
  return made;
}

Result<DeviceMemory> DeviceMemory::make(bm_handle_t handle, std::span<const std::uint8_t> contents) {
  auto made = make(handle, contents.size());
  if (!made || contents.empty()) return made;
  // bmlib's type of a source is older than const.
  void* const source = const_cast<std::uint8_t*>(contents.data());  // NOLINT
  if (bm_memcpy_s2d_u64(handle, made->memory_, source) != BM_SUCCESS)
    return Error{ErrorKind::kConnection, fmt::format("{} bytes cannot be copied to the device", contents.size())};
  return made;
}

Result<std::vector<std::uint8_t>> DeviceMemory::read() const {
  std::vector<std::uint8_t> contents(bytes());
  if (empty() || bm_memcpy_d2s_u64(handle_, contents.data(), memory_) == BM_SUCCESS) return contents;
  return Error{ErrorKind::kConnection, fmt::format("{} bytes cannot be read from the device", bytes())};
}

}  // namespace softtpu::bmrt
