// Constants of networks in device memory. Networks with the same bytes on the same device share them, whichever runtime
// or handle loaded them first; the last one that goes frees them. Any thread.
//
// Many constants of a file are read when a launch first needs them: a large file is there at once, and networks that
// never run cost nothing. They are the same where they are the same part of the same file; few ones, and those that a
// program gives as bytes, where their bytes are.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "host/bmrt/device_memory.hpp"
#include "runtime/bmodel/model_file.hpp"

namespace softtpu::bmrt {

// What the constants of a network are.
struct ConstantBytes {
  // Constants of fewer bytes do not wait.
  static constexpr std::uint64_t kFewestToWait = std::uint64_t{16} << 20;

  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const bmodel::ModelFile> file = {};  // null: the bytes are there
  std::uint64_t offset = 0;                            // in the file

  // The same key: the same bytes.
  std::string key() const;
};

class Constants {
 public:
  // Memory that holds them, or will when what waits is brought. `key` is theirs.
  Constants(DeviceMemory memory, std::string key, const ConstantBytes& what)
      : memory_(std::move(memory)), key_(std::move(key)), file_(what.file), offset_(what.offset) {}
  // The same where they do not wait: copies them.
  static Result<std::shared_ptr<const Constants>> make(DeviceMemory memory, std::string key, const ConstantBytes& what);

  std::uint64_t address() const { return memory_.address(); }
  // Before they are used: reads those that wait. Once it has succeeded it does nothing more.
  Result<void> bring() const;
  // Whether they are on the device as the network has them.
  Result<bool> are_unchanged() const;

 private:
  const DeviceMemory memory_;
  const std::string key_;
  const std::shared_ptr<const bmodel::ModelFile> file_;  // null: they were copied
  const std::uint64_t offset_;
  mutable std::mutex mutex_;  // held while they are read
  mutable std::atomic<bool> there_ = false;
};

// `handle` has to outlive the runtime that asks, not the memory: the memory belongs to the program.
Result<std::shared_ptr<const Constants>> share_constants(bm_handle_t handle, const ConstantBytes& what,
                                                         const std::string& key);

}  // namespace softtpu::bmrt
