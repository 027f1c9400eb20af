#include "host/client/device_connection.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "runtime/base/unreachable.hpp"
#include "runtime/process/device_process.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

// The functions of libcmodel_firmware.so that device/server/startup/entry.hpp declares. The library is in the process
// when kernels are linked in; a program that only talks to a device process never loads it.
template <class Function>
Function* find_firmware_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// Beside this library, else wherever the loader finds it.
Result<void> load_firmware() {
  if (find_firmware_function<int(char*, unsigned long)>("softtpu_start_inprocess") != nullptr) return {};
  constexpr const char* kName = "libcmodel_firmware.so";
  Dl_info here{};
  std::string beside;
  if (::dladdr(reinterpret_cast<const void*>(&connect_device), &here) != 0 && here.dli_fname != nullptr) {
    beside = std::filesystem::path(here.dli_fname).parent_path() / kName;
  }
  if (!beside.empty() && ::dlopen(beside.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  if (::dlopen(kName, RTLD_NOW | RTLD_GLOBAL) != nullptr) return {};
  return Error{ErrorKind::kResource, fmt::format("SOFTTPU_DEVICE=inprocess: {}", ::dlerror())};
}

Result<UniqueFd> start_in_process() {
  if (auto loaded = load_firmware(); !loaded) return loaded.error();
  const auto start = find_firmware_function<int(char*, unsigned long)>("softtpu_start_inprocess");
  if (start == nullptr) return Error{ErrorKind::kInternal, "libcmodel_firmware.so has no softtpu_start_inprocess"};
  std::array<char, 512> text{};
  UniqueFd socket(start(text.data(), text.size()));
  if (!socket) return Error{ErrorKind::kResource, text.data()};
  return socket;
}

// A socket in a shared folder could be another user's.
Result<UniqueFd> connect_server(const std::string& path) {
  auto socket = connect_unix(path);
  if (!socket) return socket.error();
  auto peer = find_peer(socket->get());
  if (!peer) return peer.error();
  if (peer->uid != ::getuid() && peer->uid != 0) {
    return Error{ErrorKind::kConnection,
                 fmt::format("the server on {} belongs to user {}, not to {}.", path, peer->uid, ::getuid())};
  }
  return socket;
}

}  // namespace

unsigned long own_kernel_count() {
  const auto count = find_firmware_function<unsigned long()>("softtpu_registered_kernel_count");
  return count != nullptr ? count() : 0;
}

Result<UniqueFd> connect_device(const Settings& settings, std::uint32_t number) {
  if (settings.device_is_default && own_kernel_count() > 0) return start_in_process();
  switch (settings.device) {
    case DeviceChoice::kEmbedded: return start_embedded_device(settings, number);
    case DeviceChoice::kInProcess: return start_in_process();
    case DeviceChoice::kUnixSocket: return connect_server(settings.socket_path);
    case DeviceChoice::kRemote: return start_remote_connection(settings);
  }
  unreachable(settings.device);
}

}  // namespace softtpu
