// DeviceClient: how a device is opened, and which are open.
#include "host/client/device_client.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "host/client/device_client_state.hpp"
#include "host/client/device_connection.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/module_image.hpp"
#include "runtime/transport/rpc_client.hpp"

namespace softtpu {

std::atomic<int> device_forks{0};

Error with_prefix(const char* what, const Error& error) {
  return Error{error.kind, fmt::format("{}: {}", what, error.text)};
}

Result<void> to_void(const Result<msg::Done>& done) {
  if (!done) return done.error();
  return {};
}

bool is_private(const Settings& settings) {
  return settings.device == DeviceChoice::kEmbedded && !(settings.device_is_default && own_kernel_count() > 0);
}

// What listens on a socket that SOFTTPU_DEVICE names may be no softtpu at all, so its failure to answer names the
// socket.
Result<msg::HelloReply> greet(RpcClient& rpc, const Settings& settings) {
  auto reply = rpc.call<msg::HelloReply>(msg::Hello{});
  if (!reply && settings.device == DeviceChoice::kUnixSocket)
    return with_prefix(settings.socket_path.c_str(), reply.error());
  if (!reply) return reply;
  if (reply->version != kProtocolVersion) {
    return Error{
        ErrorKind::kConnection,
        fmt::format("the device speaks version {} of the protocol, this library version {}: both must come from "
                    "the same softtpu.",
                    reply->version, kProtocolVersion)};
  }
  return reply;
}

bool AdoptedDevice::is_expected() {
  int adopts = 0;
  return ::getpid() == 1 || (::prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts != 0);
}

AdoptedDevice::~AdoptedDevice() {
  if (device_ <= 0 || ::getpid() != owner_) return;
  constexpr int kMostMs = 1000;
  for (int waited = 0; waited < kMostMs && ::waitpid(device_, nullptr, WNOHANG) == 0; ++waited) ::usleep(1000);
}

DeviceClient::DeviceClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceClient::~DeviceClient() = default;
const DeviceInfo& DeviceClient::info() const { return state_->info; }
int DeviceClient::device_id() const { return state_->name; }
bool DeviceClient::copies_wait() const { return state_->copies_wait; }
bool DeviceClient::shares_memory() const { return state_->memory != nullptr; }
Result<void> DeviceClient::check_process() const { return state_->check_process(); }

namespace {

void count_forks() {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, [] { ++device_forks; }); });
}

struct OpenDevices {
  std::mutex mutex;
  std::map<int, std::shared_ptr<DeviceClient>> by_id;
};

// Never destroyed: the end of the process closes the connections, after the last thread that may use them.
OpenDevices& open_devices() {
  static auto* const devices = new OpenDevices;
  return *devices;
}

// Those of open_alone(). Their numbers lie above any that a program counts to.
struct LoneDevices {
  std::mutex mutex;
  std::map<int, std::weak_ptr<DeviceClient>> by_name;
  int next_name = 1 << 20;
};

LoneDevices& lone_devices() {
  static auto* const devices = new LoneDevices;
  return *devices;
}

Result<void> check_device_id(int device_id, std::size_t count) {
  if (device_id >= 0 && static_cast<std::size_t>(device_id) < count) return {};
  return Error{ErrorKind::kUsage, fmt::format("device {} is out of range (0 to {}).", device_id, count - 1)};
}

// The chip's name that a program gives for its device itself; empty where it gives none, or a description.
std::string asked_chip(const std::vector<std::string>& given) {
  static constexpr std::string_view kSetting = "SOFTTPU_CHIP=";
  std::string chip;
  for (const std::string& text : given) {
    if (text.starts_with(kSetting)) chip = text.substr(kSetting.size());
  }
  return chip.find_first_of("/{") == std::string::npos ? chip : std::string();
}

// The device, of so many, that the program calls `device_id`.
Result<std::uint32_t> find_device(const Settings& settings, int device_id, std::uint32_t count) {
  const auto& visible = settings.visible_devices;
  if (auto good = check_device_id(device_id, visible.empty() ? count : visible.size()); !good) return good.error();
  const auto id = static_cast<std::uint32_t>(device_id);
  if (visible.empty()) return id;
  if (auto good = check_device_id(static_cast<int>(visible[id]), count); !good)
    return with_prefix("TPU_VISIBLE_DEVICES", good.error());
  return visible[id];
}

}  // namespace

Result<int> DeviceClient::device_count() {
  auto settings = read_settings();
  if (!settings) return settings.error();
  if (!settings->visible_devices.empty()) return static_cast<int>(settings->visible_devices.size());
  if (shared_device_name(*settings).empty()) return static_cast<int>(settings->device_count);
  auto socket = connect_device(*settings);
  if (!socket) return socket.error();
  RpcClient rpc(std::move(*socket));
  auto hello = greet(rpc, *settings);
  if (!hello) return hello.error();
  return static_cast<int>(hello->device_count);
}

namespace {

bool names_chip() {
  return std::ranges::any_of(variables(), [](const Variable& variable) {
    const char* text = std::getenv(std::string(variable.name).c_str());
    return (variable.name == "SOFTTPU_CHIP" || variable.name == "CHIP_ARCH") && text != nullptr && *text != '\0';
  });
}

}  // namespace

Result<std::shared_ptr<DeviceClient>> DeviceClient::open(int device_id, std::string_view usual_chip) {
  count_forks();
  OpenDevices& devices = open_devices();
  const std::lock_guard lock(devices.mutex);
  if (const auto found = devices.by_id.find(device_id); found != devices.by_id.end()) {
    if (auto own = found->second->state_->check_process(); own) {
      // A device that has died is replaced by the next request.
      if (found->second->stat()) return found->second;
    }
    devices.by_id.erase(found);
  }
  std::vector<std::string> given;
  if (!usual_chip.empty() && !names_chip()) given.push_back(fmt::format("CHIP_ARCH={}", usual_chip));
  auto settings = read_settings(given);
  if (!settings) return settings.error();
  const bool shared = !shared_device_name(*settings).empty();
  Result<std::uint32_t> number = 0U;
  if (!shared) number = find_device(*settings, device_id, settings->device_count);
  if (!number) return number.error();
  auto client = make(device_id, *number, *std::move(settings));
  if (client) devices.by_id[device_id] = *client;
  return client;
}

Result<std::shared_ptr<DeviceClient>> DeviceClient::open_alone(int device_id, const std::vector<std::string>& given) {
  count_forks();
  auto settings = read_settings(given);
  if (!settings) return settings.error();
  auto client = make(device_id, static_cast<std::uint32_t>(device_id), *std::move(settings));
  if (!client) return client;
  LoneDevices& devices = lone_devices();
  const std::lock_guard lock(devices.mutex);
  const int name = devices.next_name++;
  (*client)->state_->name = name;
  std::erase_if(devices.by_name, [](const auto& row) { return row.second.expired(); });
  devices.by_name[name] = *client;
  return client;
}

std::shared_ptr<DeviceClient> DeviceClient::find_alone(int device_id) {
  LoneDevices& devices = lone_devices();
  const std::lock_guard lock(devices.mutex);
  const auto found = devices.by_name.find(device_id);
  return found == devices.by_name.end() ? nullptr : found->second.lock();
}

Result<std::shared_ptr<DeviceClient>> DeviceClient::make(int device_id, std::uint32_t number, Settings settings) {
  if (const auto module = find_default_module(settings.firmware_path); module && is_private(settings)) {
    const UniqueFd file(::open(module->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file) add_preload(settings, file.get());
  }
  auto socket = connect_device(settings, number);
  if (!socket) return socket.error();
  auto state = std::make_unique<State>(device_id, std::move(*socket), settings);
  auto hello = greet(state->rpc, settings);
  if (!hello) return hello.error();
  if (!shared_device_name(settings).empty()) {
    const auto found = find_device(settings, device_id, hello->device_count);
    if (!found) return found.error();
    number = *found;
  }
  state->number = number;
  std::shared_ptr<DeviceClient> client(new DeviceClient(std::move(state)));
  if (auto attached = client->attach(settings); !attached) return attached.error();
  return client;
}

// Chooses the device on the connection, maps its memory, loads the kernels that the environment names.
Result<void> DeviceClient::attach(const Settings& settings) {
  msg::Open request;
  // An embedded or in-process server has one device, whatever number the program knows it by.
  request.device = shared_device_name(settings).empty() ? 0 : state_->number;
  state_->remote = settings.device == DeviceChoice::kRemote;
  request.share_memory = !settings.streaming && !state_->remote;
  if (!shared_device_name(settings).empty()) request.chip = asked_chip(settings.given);
  std::vector<UniqueFd> fds;
  auto opened = state_->rpc.call<msg::OpenReply>(request, {}, &fds);
  if (!opened) return opened.error();
  state_->info = {opened->chip_name,    opened->chip_id,      opened->soc_mode,   opened->core_count,
                  opened->global_start, opened->global_bytes, opened->heap_start, opened->in_process};
  state_->most_workitems = settings.most_workitems;
  state_->watched = opened->watched;
  state_->copies_wait = settings.copies_wait;
  state_->preload = settings.preload;
  state_->given = settings.given;
  state_->may_be_replaced = is_private(settings);
  if (state_->may_be_replaced && AdoptedDevice::is_expected()) {
    if (const auto stat = state_->rpc.call<msg::StatReply>(msg::Stat{}))
      state_->adopted.set(static_cast<pid_t>(stat->server_pid));
  }
  if (!fds.empty()) {
    void* memory =
        ::mmap(nullptr, opened->global_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fds[0].get(), 0);
    if (memory != MAP_FAILED) {
      state_->memory = static_cast<std::uint8_t*>(memory);
    } else {
      // A limit on address space, for example. Everything still works, through the socket.
      log_warning(fmt::format("device memory ({}) cannot be mapped ({}); copies go through the socket.",
                              to_size_text(opened->global_bytes), std::strerror(errno)));
    }
  }
  return load_default_module(settings);
}

}  // namespace softtpu
