#include "host/client/kernel_module.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

namespace softtpu::host {
namespace {

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace

void KernelModule::publish(const std::string& name, std::span<const std::byte> image) {
  name.copy(published_.lib_name, sizeof published_.lib_name - 1);
  const Md5 md5 = digest(image);
  std::copy(md5.begin(), md5.end(), published_.md5);
}

Md5 KernelModule::digest(std::span<const std::byte> image) {
  Md5 md5{};
  unsigned length = 0;
  EVP_Digest(image.data(), image.size(), md5.data(), &length, EVP_md5(), nullptr);
  return md5;
}

Md5 KernelModule::digest_file(const std::string& path) { return digest(read_file(path)); }

Result<std::shared_ptr<KernelModule>> KernelModule::load_file(std::shared_ptr<DeviceClient> device,
                                                              const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  const Result<ModuleId> id = device->load_module_file(absolute.string());
  if (!id) return id.error();
  std::shared_ptr<KernelModule> module(new KernelModule(std::move(device), *id));
  module->publish(absolute.filename().string(), read_file(absolute));
  return module;
}

Result<std::shared_ptr<KernelModule>> KernelModule::load_bytes(std::shared_ptr<DeviceClient> device,
                                                               std::span<const std::byte> image) {
  const Result<ModuleId> id = device->load_module_bytes(image);
  if (!id) return id.error();
  std::shared_ptr<KernelModule> module(new KernelModule(std::move(device), *id));
  module->publish("memory", image);
  return module;
}

Result<FunctionId> KernelModule::find(std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (!loaded_)
    return Error{ErrorKind::kUsage,
                 "the module is unloaded; load it again, and look functions up in what the load returns"};
  if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
  const Result<FunctionId> found = device_->find_function(id_, name);
  if (found) functions_.emplace(name, *found);
  return found;
}

bool KernelModule::is_loaded() const {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

Result<void> KernelModule::unload() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(loaded_, false))
    return Error{ErrorKind::kUsage, "the module is unloaded already; each load is undone once"};
  return device_->unload_module(id_);
}

}  // namespace softtpu::host
