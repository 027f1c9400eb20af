// DeviceClient: kernel modules and their functions.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "host/client/device_client.hpp"
#include "host/client/device_client_state.hpp"
#include "host/client/device_connection.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/log.hpp"
#include "runtime/module/instrumentation.hpp"
#include "runtime/module/module_image.hpp"

namespace softtpu {
namespace {

// Stands for the module that SDK builds for the emulator embed as {0}.
constexpr ModuleId kPlaceholder{UINT32_MAX};

}  // namespace

void add_preload(Settings& settings, int fd) {
  const auto instrumentation = find_instrumentation(fd);
  if (!instrumentation || instrumentation->first.empty()) return;
  if (settings.preload.find(instrumentation->first) != std::string::npos) return;
  settings.preload = instrumentation->first + (settings.preload.empty() ? "" : ":" + settings.preload);
}

Result<void> DeviceClient::load_default_module(const Settings& settings) {
  const auto path = find_default_module(settings.firmware_path);
  if (!path) return {};
  auto module = load_module_file(*path);
  if (module) {
    const std::unique_lock lock(state_->mutex);
    state_->default_module = *module;
    return {};
  }
  if (!settings.firmware_path.empty()) return with_prefix("TPUKERNEL_FIRMWARE_PATH", module.error());
  // Found by its name only: it may be anything, and the program may not need it.
  log_warning(fmt::format("{} is on the library path but not usable: {}", *path, module.error().text));
  return {};
}

// A device that was not used yet is replaced by one that has started with the runtime of the module's sanitizer.
// Otherwise the device refuses the module, and says what it needs.
Result<void> DeviceClient::make_ready_for(int fd) {
  if (!state_->may_be_replaced || state_->used || !state_->check_process()) return {};
  auto settings = read_settings(state_->given);
  if (!settings) return settings.error();
  settings->preload = state_->preload;
  add_preload(*settings, fd);
  if (settings->preload == state_->preload) return {};
  auto socket = connect_device(*settings, state_->number);
  if (!socket) return socket.error();
  auto fresh = std::make_unique<State>(state_->device_id, std::move(*socket), *settings);
  fresh->last_stream = state_->last_stream.load();
  fresh->number = state_->number;
  fresh->name = state_->name;
  if (auto hello = greet(fresh->rpc, *settings); !hello) return hello.error();
  ::shutdown(state_->rpc.socket(), SHUT_RDWR);
  retired_.push_back(std::exchange(state_, std::move(fresh)));
  return attach(*settings);
}

Result<ModuleId> DeviceClient::load_image(const std::string& name, int fd) {
  if (auto ready = make_ready_for(fd); !ready) return ready.error();
  if (state_->remote) {
    auto image = read_module(fd, name, kMaxPayloadBytes - kFrameHeaderBytes - name.size());
    if (!image) return image.error();
    auto loaded = state_->call<msg::LoadModuleReply>(msg::LoadModule{name, std::move(*image)});
    if (!loaded) return loaded.error();
    return ModuleId{loaded->module};
  }
  const int fds[] = {fd};
  auto reply = state_->call<msg::LoadModuleReply>(msg::LoadModule{name, {}}, fds);
  if (!reply) return reply.error();
  return ModuleId{reply->module};
}

Result<ModuleId> DeviceClient::load_module_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return Error{ErrorKind::kUsage, fmt::format("kernel module {}: {}.", path, std::strerror(errno))};
  auto placeholder = is_placeholder_file(file.get());
  if (!placeholder) return placeholder.error();
  return *placeholder ? Result<ModuleId>(kPlaceholder) : load_image(path, file.get());
}

Result<ModuleId> DeviceClient::load_module_bytes(std::span<const std::byte> image) {
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(image.data()), image.size());
  if (bytes.empty()) return Error{ErrorKind::kUsage, "a kernel module of 0 bytes."};
  if (is_placeholder(bytes)) return kPlaceholder;
  auto file = copy_module_bytes(bytes);
  if (!file) return file.error();
  return load_image("(in memory)", file->get());
}

Result<void> DeviceClient::unload_module(ModuleId module) {
  // The library behind the placeholder was not loaded by this call's partner and stays.
  if (module == kPlaceholder) return {};
  return to_void(state_->call<msg::Done>(msg::UnloadModule{static_cast<std::uint32_t>(module)}));
}

Result<FunctionId> DeviceClient::find_function(ModuleId module, std::string_view name) {
  msg::FindFunction request{static_cast<std::uint32_t>(module), std::string(name)};
  if (module == kPlaceholder) {
    const std::shared_lock lock(state_->mutex);
    if (!state_->default_module && !state_->info.in_process) {
      return Error{ErrorKind::kUsage,
                   fmt::format("function \"{}\": the module is empty ({{0}}), and neither TPUKERNEL_FIRMWARE_PATH nor "
                               "libcmodel.so on the library path gives the kernels.",
                               name)};
    }
    // Module 0 is the program itself.
    request.module = state_->default_module ? static_cast<std::uint32_t>(*state_->default_module) : 0;
  }
  auto reply = state_->call<msg::FindFunctionReply>(request);
  if (!reply) return reply.error();
  return FunctionId{reply->function};
}

}  // namespace softtpu
