// Kernel modules that a program has loaded, whichever interface it did that through.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "host/client/device_client.hpp"

#pragma GCC visibility push(default)
namespace softtpu::host {

using Md5 = std::array<unsigned char, 16>;

class KernelModule {
 public:
  // What programs see: their handle of the module is a pointer to this.
  struct Published {
    char lib_name[64];
    unsigned char md5[16];
    std::uint32_t dest;
  };

  static Result<std::shared_ptr<KernelModule>> load_file(std::shared_ptr<DeviceClient> device, const std::string& path);
  static Result<std::shared_ptr<KernelModule>> load_bytes(std::shared_ptr<DeviceClient> device,
                                                          std::span<const std::byte> image);

  static Md5 digest(std::span<const std::byte> image);
  // Of no bytes, where there is no file.
  static Md5 digest_file(const std::string& path);

  const std::shared_ptr<DeviceClient>& device() const { return device_; }
  Published& published() { return published_; }
  const Published& published() const { return published_; }

  // A registered kernel, else the exported function of that name; asked of the device once.
  Result<FunctionId> find(std::string_view name);
  bool is_loaded() const;
  Result<void> unload();

 private:
  KernelModule(std::shared_ptr<DeviceClient> device, ModuleId id) : device_(std::move(device)), id_(id) {}
  void publish(const std::string& name, std::span<const std::byte> image);

  const std::shared_ptr<DeviceClient> device_;
  const ModuleId id_;
  Published published_{};
  mutable std::mutex mutex_;
  bool loaded_ = true;
  std::map<std::string, FunctionId, std::less<>> functions_;
};

}  // namespace softtpu::host
#pragma GCC visibility pop
