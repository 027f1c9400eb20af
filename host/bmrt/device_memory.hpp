// Device memory with an owner, through libbmlib; and where a network's memory comes from.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bmlib_runtime.h"
#include "runtime/base/result.hpp"
#include "runtime/bmodel/model_file.hpp"

namespace softtpu::bmrt {

class Constants;

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
      : handle_(std::exchange(other.handle_, nullptr)),
        memory_(std::exchange(other.memory_, {})),
        lent_(std::exchange(other.lent_, false)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(memory_, other.memory_);
    std::swap(lent_, other.lent_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (handle_ != nullptr && !lent_) bm_free_device_u64(handle_, memory_);
  }

  static Result<DeviceMemory> make(bm_handle_t handle, std::uint64_t bytes);
  // With these contents.
  static Result<DeviceMemory> make(bm_handle_t handle, std::span<const std::uint8_t> contents);
  // Memory that stays its owner's.
  static DeviceMemory lend(bm_handle_t handle, std::uint64_t address, std::uint64_t bytes);

  Result<void> write(std::span<const std::uint8_t> contents);
  // The same with bytes of a file.
  Result<void> write(const bmodel::ModelFile& file, std::uint64_t offset) const;
  Result<std::vector<std::uint8_t>> read() const;
  Result<std::vector<std::uint8_t>> read(std::uint64_t offset, std::uint64_t bytes) const;

  bool empty() const { return handle_ == nullptr; }
  std::uint64_t address() const { return empty() ? 0 : bm_mem_get_device_addr_u64(memory_); }
  std::uint64_t bytes() const { return empty() ? 0 : bm_mem_get_device_size_u64(memory_); }

 private:
  bm_handle_t handle_ = nullptr;
  bm_device_mem_u64_t memory_{};
  bool lent_ = false;
};

// What a network needs device memory for.
enum class Use { kInstructions, kMovingInstructions, kBetween, kConstants, kInputsAndOutputs };
inline constexpr std::size_t kUses = 5;

// Gives networks their memory: what a program has allocated for a use, else the device's own.
class MemorySource {
 public:
  // Each piece begins at a multiple of it.
  static constexpr std::uint64_t kStep = 4096;

  explicit MemorySource(bm_handle_t handle) : handle_(handle) {}
  bm_handle_t handle() const { return handle_; }

  void give(Use use, std::uint64_t address, std::uint64_t bytes);
  // The file's bytes lie on the device, too: constants need not be copied.
  void give_file(std::span<const std::uint8_t> file, std::uint64_t address);

  // The file's bytes are those of `file`, whose constants are not there yet.
  void give_file(std::shared_ptr<const bmodel::ModelFile> file) { from_ = std::move(file); }
  bmodel::Fetch fetch() const { return bmodel::ModelFile::fetch_of(from_); }

  Result<DeviceMemory> make(Use use, std::uint64_t bytes);
  Result<DeviceMemory> make(Use use, std::span<const std::uint8_t> contents);
  Result<std::shared_ptr<const Constants>> constants(std::span<const std::uint8_t> bytes);

 private:
  struct Given {
    bool any = false;
    std::uint64_t next = 0, end = 0;
  };
  Given& of(Use use) { return given_[static_cast<std::size_t>(use)]; }

  bm_handle_t handle_;
  Given given_[kUses];
  std::span<const std::uint8_t> file_;
  std::uint64_t file_address_ = 0;
  std::shared_ptr<const bmodel::ModelFile> from_;
  std::map<std::string, std::shared_ptr<const Constants>> known_;  // in given memory
};

}  // namespace softtpu::bmrt
