#include "host/device_client.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/call_stack.hpp"
#include "host/device_connection.hpp"
#include "host/finding_report.hpp"
#include "host/interrupt.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/memory_ops.hpp"
#include "runtime/base/text.hpp"
#include "runtime/module/instrumentation.hpp"
#include "runtime/module/module_image.hpp"
#include "runtime/transport/rpc_client.hpp"

namespace softtpu {
namespace {

// The size of one message of a streamed copy or fill.
constexpr std::uint64_t kStreamBytes = 4ULL << 20;
// A fill or copy inside the device is cut into pieces, so that a server that serves several programs never stops for
// long.
constexpr std::uint64_t kServerStepBytes = 16ULL << 20;
// Stands for the module that SDK builds for the emulator embed as {0}.
constexpr ModuleId kPlaceholder{UINT32_MAX};

std::atomic<int> forks{0};  // of this process image, counted in the child

void count_forks() {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(nullptr, nullptr, [] { ++forks; }); });
}

Error with_prefix(const char* what, const Error& error) {
  return Error{error.kind, fmt::format("{}: {}", what, error.text)};
}

Result<void> to_void(const Result<Done>& done) {
  if (!done) return done.error();
  return {};
}

// What to do about a kernel that only this program has, and not the device.
std::string hint_at_own_kernels() {
  const unsigned long count = own_kernel_count();
  return fmt::format(
      "\n - This program has {} kernel{} linked in, which run in the program itself only: unset SOFTTPU_DEVICE (now "
      "{})."
      "\n - Another device needs them as a module (gcc -shared): tpu_kernel_load_module_file, or "
      "TPUKERNEL_FIRMWARE_PATH.",
      count, count == 1 ? "" : "s", std::getenv("SOFTTPU_DEVICE") != nullptr ? std::getenv("SOFTTPU_DEVICE") : "");
}

}  // namespace

namespace {

// A private device that shall run the instrumented module needs its runtime from the start.
void add_preload(Settings& settings, int fd) {
  const auto instrumentation = find_instrumentation(fd);
  if (!instrumentation || instrumentation->first.empty()) return;
  if (settings.preload.find(instrumentation->first) != std::string::npos) return;
  settings.preload = instrumentation->first + (settings.preload.empty() ? "" : ":" + settings.preload);
}

bool is_private(const Settings& settings) {
  return settings.device == DeviceChoice::kEmbedded && !(settings.device_is_default && own_kernel_count() > 0);
}

}  // namespace

struct DeviceClient::State {
  State(int id, UniqueFd socket, const Settings& settings)
      : device_id(id), rpc(std::move(socket)), findings(settings.journal_path) {
    rpc.on_notice([this](const Frame& frame) { findings.take(frame); });
  }
  ~State() {
    if (memory != nullptr) ::munmap(memory, info.global_bytes);
  }

  // A child process shares the socket with its parent; what it sent would mix with the parent's messages.
  Result<void> check_process() const {
    if (forks.load(std::memory_order_relaxed) == fork_count) return {};
    return Error{ErrorKind::kUsage,
                 fmt::format("device {} belongs to process {}, which requested it, not to its fork {}.", device_id,
                             process, ::getpid())};
  }
  Result<void> check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const {
    if (auto own = check_process(); !own) return own;
    // What is mapped can still be read and written, but nobody sees it any more.
    if (rpc.is_broken()) return Error{ErrorKind::kConnection, RpcClient::kEnded};
    const std::shared_lock lock(mutex);
    return check_allocated(allocations, what, address, bytes);
  }
  std::uint8_t* at(std::uint64_t address) const { return memory + (address - info.global_start); }

  template <class Reply, class Request>
  Result<Reply> call(const Request& request, std::span<const int> fds = {}, std::vector<UniqueFd>* received = nullptr) {
    if (auto own = check_process(); !own) return own.error();
    if constexpr (!std::is_same_v<Request, Stat>) used = true;
    return rpc.call<Reply>(request, fds, received);
  }

  // A launch, or a wait for launches: ends early with what the program's language has raised meanwhile.
  template <class Request>
  Result<void> wait(const Request& request, std::uint32_t stream) {
    if (auto own = check_process(); !own) return own;
    static bool (*const is_wanted)() = host::find_interrupt();
    Interrupt interrupt{is_wanted, {}};
    if (is_wanted != nullptr) append_frame(interrupt.frame, 0, Cancel{stream});
    auto done = rpc.call<Done>(request, {}, nullptr, is_wanted != nullptr ? &interrupt : nullptr);
    if (done) return {};
    Error error = done.error();
    const bool unknown = error.text.find(kNotRegistered) != std::string::npos;
    if (unknown && !info.in_process && own_kernel_count() > 0) error.text += hint_at_own_kernels();
    return error;
  }

  const int device_id;       // of a shared device: its server's number
  int name = device_id;      // what this program calls it
  std::uint32_t number = 0;  // among all devices
  std::uint32_t most_workitems = 1;
  const pid_t process = ::getpid();
  const int fork_count = forks.load();
  DeviceInfo info;
  std::string preload;             // what the device has loaded before all else
  std::vector<std::string> given;  // settings that count instead of the environment's
  bool may_be_replaced = false;    // a private process
  std::atomic<bool> used = false;  // something was asked of the device
  bool watched = false;            // the device's checks want to know what this program does
  RpcClient rpc;
  FindingReport findings;           // of a device that others share
  std::uint8_t* memory = nullptr;   // global memory, when it is mapped
  bool remote = false;              // no descriptor can be sent
  mutable std::shared_mutex mutex;  // guards what follows
  Allocations allocations;
  std::uint64_t allocated = 0, peak = 0;  // bytes
  std::optional<ModuleId> default_module;
  std::atomic<std::uint32_t> last_stream{0};
};

DeviceClient::DeviceClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceClient::~DeviceClient() = default;
const DeviceInfo& DeviceClient::info() const { return state_->info; }
int DeviceClient::device_id() const { return state_->name; }
bool DeviceClient::shares_memory() const { return state_->memory != nullptr; }
Result<void> DeviceClient::check_process() const { return state_->check_process(); }

// ---- Opening ----

namespace {

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

// What listens on a socket that SOFTTPU_DEVICE names may be no softtpu at all, so its failure to answer names the
// socket.
Result<HelloReply> greet(RpcClient& rpc, const Settings& settings) {
  auto reply = rpc.call<HelloReply>(Hello{});
  if (!reply && settings.device == DeviceChoice::kUnixSocket)
    return with_prefix(settings.socket_path.c_str(), reply.error());
  if (!reply) return reply;
  if (reply->version != kProtocolVersion) {
    return Error{
        ErrorKind::kConnection,
        fmt::format("the device speaks version {} of the protocol, this library version {}: both have to be of one "
                    "softtpu.",
                    reply->version, kProtocolVersion)};
  }
  return reply;
}

Result<void> check_device_id(int device_id, std::size_t count) {
  if (device_id >= 0 && static_cast<std::size_t>(device_id) < count) return {};
  return Error{ErrorKind::kUsage, fmt::format("device {} is out of range (0 to {}).", device_id, count - 1)};
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

Result<std::shared_ptr<DeviceClient>> DeviceClient::open(int device_id) {
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
  auto settings = read_settings();
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
  Open request;
  // An embedded or in-process server has one device, whatever number the program knows it by.
  request.device = shared_device_name(settings).empty() ? 0 : state_->number;
  state_->remote = settings.device == DeviceChoice::kRemote;
  request.share_memory = !settings.streaming && !state_->remote;
  std::vector<UniqueFd> fds;
  auto opened = state_->rpc.call<OpenReply>(request, {}, &fds);
  if (!opened) return opened.error();
  state_->info = {opened->chip_name,    opened->chip_id,      opened->soc_mode,   opened->core_count,
                  opened->global_start, opened->global_bytes, opened->heap_start, opened->in_process};
  state_->most_workitems =
      settings.most_workitems == 0 ? opened->core_count : std::min(settings.most_workitems, opened->core_count);
  state_->watched = opened->watched;
  state_->preload = settings.preload;
  state_->given = settings.given;
  state_->may_be_replaced = is_private(settings);
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

// ---- Memory ----

Result<std::uint64_t> DeviceClient::allocate(std::uint64_t bytes) {
  auto reply = state_->call<AllocateReply>(Allocate{bytes});
  if (!reply) return reply.error();
  {
    const std::unique_lock lock(state_->mutex);
    state_->allocations[reply->address] = bytes;
    state_->allocated += bytes;
    state_->peak = std::max(state_->peak, state_->allocated);
  }
  if (state_->watched) note(HostEvent::kAllocated, reply->address, bytes, false);
  return reply->address;
}

Result<void> DeviceClient::release(std::uint64_t address) {
  if (auto own = state_->check_process(); !own) return own;
  {
    const std::unique_lock lock(state_->mutex);
    const auto found = state_->allocations.find(address);
    if (found == state_->allocations.end()) {
      return Error{ErrorKind::kUsage, fmt::format("address 0x{:x} is not allocated by this program.", address)};
    }
    state_->allocated -= found->second;
    state_->allocations.erase(found);
  }
  if (state_->watched) note(HostEvent::kFreeing, address, 0, false);
  return to_void(state_->call<Done>(Release{address}));
}

std::uint64_t DeviceClient::peak_bytes() const {
  const std::shared_lock lock(state_->mutex);
  return state_->peak;
}

void DeviceClient::reset_peak() {
  const std::unique_lock lock(state_->mutex);
  state_->peak = state_->allocated;
}

Result<std::uint64_t> DeviceClient::allocation_bytes(std::uint64_t address) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->allocations.find(address);
  if (found == state_->allocations.end()) {
    return Error{ErrorKind::kUsage, fmt::format("address 0x{:x} is not allocated by this program.", address)};
  }
  return found->second;
}

Result<void> DeviceClient::check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const {
  return state_->check_range(what, address, bytes);
}

Result<void> DeviceClient::write(std::uint64_t destination, const void* source, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the destination", destination, bytes); !inside) return inside;
  const auto* from = static_cast<const std::uint8_t*>(source);
  if (state_->memory != nullptr) {
    std::memcpy(state_->at(destination), from, bytes);
    note_written(destination, bytes);
    return {};
  }
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    const std::uint64_t step = std::min(kStreamBytes, bytes - done);
    auto written = state_->call<Done>(Write{destination + done, Bytes(from + done, from + done + step)});
    if (!written) return written.error();
  }
  return {};
}

Result<void> DeviceClient::read(std::uint64_t source, void* destination, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the source", source, bytes); !inside) return inside;
  if (state_->watched) note(HostEvent::kRead, source, bytes, true);
  auto* to = static_cast<std::uint8_t*>(destination);
  if (state_->memory != nullptr) {
    std::memcpy(to, state_->at(source), bytes);
    return {};
  }
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    const std::uint64_t step = std::min(kStreamBytes, bytes - done);
    auto reply = state_->call<ReadReply>(Read{source + done, step});
    if (!reply) return reply.error();
    if (reply->data.size() != step) return Error{ErrorKind::kConnection, "the device answers a read with another size"};
    std::memcpy(to + done, reply->data.data(), step);
  }
  return {};
}

Result<void> DeviceClient::fill(std::uint64_t destination, std::uint64_t bytes, std::span<const std::uint8_t> pattern) {
  auto good = check_fill(bytes, pattern.size());
  if (good) good = state_->check_range("the destination", destination, bytes);
  if (!good) return good;
  if (state_->memory != nullptr) {
    fill_bytes(state_->at(destination), bytes, pattern);
    note_written(destination, bytes);
    return {};
  }
  const std::uint64_t step = kServerStepBytes / pattern.size() * pattern.size();
  for (std::uint64_t done = 0; done < bytes; done += step) {
    auto filled = state_->call<Done>(
        Fill{destination + done, std::min(step, bytes - done), Bytes(pattern.begin(), pattern.end())});
    if (!filled) return filled.error();
  }
  return {};
}

Result<void> DeviceClient::copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes) {
  auto inside = state_->check_range("the source", source, bytes);
  if (inside) inside = state_->check_range("the destination", destination, bytes);
  if (!inside) return inside;
  if (state_->memory != nullptr) {
    std::memmove(state_->at(destination), state_->at(source), bytes);
    note_written(destination, bytes);
    return {};
  }
  // Pieces go from the end when the destination lies behind the source, as in memmove.
  const bool backwards = destination > source;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t step = std::min(kServerStepBytes, bytes - done);
    const std::uint64_t at = backwards ? bytes - done - step : done;
    auto copied = state_->call<Done>(Copy{destination + at, source + at, step, 1, 1, 1});
    if (!copied) return copied.error();
    done += step;
  }
  return {};
}

Result<void> DeviceClient::copy_strided(const StridedCopy& what) {
  auto extent = copy_extent(what.count, what.element_bytes, what.destination_stride, what.source_stride);
  if (!extent) return extent.error();
  auto inside = state_->check_range("the source", what.source, extent->source_bytes);
  if (inside) inside = state_->check_range("the destination", what.destination, extent->destination_bytes);
  if (!inside) return inside;
  if (state_->memory != nullptr) {
    copy_elements(state_->at(what.destination), state_->at(what.source), what.count, what.element_bytes,
                  what.destination_stride, what.source_stride);
    note_written(what.destination, extent->destination_bytes);
    return {};
  }
  return to_void(state_->call<Done>(Copy{what.destination, what.source, what.count, what.element_bytes,
                                         what.destination_stride, what.source_stride}));
}

Result<void> DeviceClient::copy_to(DeviceClient& other, std::uint64_t destination, std::uint64_t source,
                                   std::uint64_t bytes) {
  if (&other == this) return copy(destination, source, bytes);
  auto inside = state_->check_range("the source", source, bytes);
  if (inside) inside = other.state_->check_range("the destination", destination, bytes);
  if (!inside) return inside;
  if (state_->memory != nullptr) return other.write(destination, state_->at(source), bytes);
  std::vector<std::uint8_t> piece(std::min(kStreamBytes, bytes));
  for (std::uint64_t done = 0; done < bytes; done += kStreamBytes) {
    const std::uint64_t step = std::min(kStreamBytes, bytes - done);
    if (auto moved = read(source + done, piece.data(), step); !moved) return moved;
    if (auto moved = other.write(destination + done, piece.data(), step); !moved) return moved;
  }
  return {};
}

Result<void*> DeviceClient::map(std::uint64_t address, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the memory to map", address, bytes); !inside) return inside.error();
  if (state_->memory == nullptr) {
    return Error{ErrorKind::kUnsupported,
                 "device memory cannot be mapped: this device is reached through a socket only."};
  }
  // From now on the program can write without a call.
  note_written(address, bytes);
  return static_cast<void*>(state_->at(address));
}

Result<void*> DeviceClient::map_alone(std::uint64_t address, std::uint64_t bytes, std::uint64_t& into_page) {
  if (auto inside = state_->check_range("the memory to map", address, bytes); !inside) return inside.error();
  if (state_->memory == nullptr) {
    return Error{ErrorKind::kUnsupported,
                 "device memory cannot be mapped: this device is reached through a socket only."};
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  into_page = (address - state_->info.global_start) % page;
  // An old size of 0 makes a second mapping of shared pages.
  void* const at = ::mremap(state_->at(address) - into_page, 0, into_page + bytes, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return Error{ErrorKind::kResource, fmt::format("mapping memory: {}", std::strerror(errno))};
  return at;
}

Result<void> DeviceClient::note_mapped(std::uint64_t address, std::uint64_t bytes) {
  if (auto inside = state_->check_range("the mapped memory", address, bytes); !inside) return inside;
  note_written(address, bytes);
  return {};
}

Result<std::uint64_t> DeviceClient::find_address(const void* pointer) const {
  const auto* at = static_cast<const std::uint8_t*>(pointer);
  if (state_->memory == nullptr || at < state_->memory || at >= state_->memory + state_->info.global_bytes) {
    return Error{ErrorKind::kUsage, "the pointer is not one of mapped device memory."};
  }
  return state_->info.global_start + static_cast<std::uint64_t>(at - state_->memory);
}

// ---- Modules ----

// A device that nobody has used yet is replaced by one that has started with the runtime of the module's sanitizer.
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
    auto loaded = state_->call<LoadModuleReply>(LoadModule{name, std::move(*image)});
    if (!loaded) return loaded.error();
    return ModuleId{loaded->module};
  }
  const int fds[] = {fd};
  auto reply = state_->call<LoadModuleReply>(LoadModule{name, {}}, fds);
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
  return to_void(state_->call<Done>(UnloadModule{static_cast<std::uint32_t>(module)}));
}

Result<FunctionId> DeviceClient::find_function(ModuleId module, std::string_view name) {
  FindFunction request{static_cast<std::uint32_t>(module), std::string(name)};
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
  auto reply = state_->call<FindFunctionReply>(request);
  if (!reply) return reply.error();
  return FunctionId{reply->function};
}

// ---- Launches ----

StreamId DeviceClient::make_stream() { return StreamId{++state_->last_stream}; }

void DeviceClient::close_stream(StreamId stream) {
  if (!state_->check_process()) return;
  static_cast<void>(state_->rpc.send(CloseStream{static_cast<std::uint32_t>(stream)}));
}

namespace {

// A launch asks for as many workitems as it likes and gets at most `most`.
softtpu::Launch to_message(const DeviceClient::Launch& what, std::uint32_t most, bool wait) {
  softtpu::Launch launch;
  launch.stream = static_cast<std::uint32_t>(what.stream);
  launch.function = static_cast<std::uint32_t>(what.function);
  launch.core = what.core;
  launch.blocks = std::min(what.blocks, most);
  launch.groups = what.groups;
  launch.wait = wait;
  launch.name = what.name;
  const auto to_bytes = [](std::span<const std::byte> args) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(args.data());
    return Bytes(data, data + args.size());
  };
  launch.args = to_bytes(what.args);
  for (const DeviceClient::LaunchPart& part : what.others) {
    launch.others.push_back({part.core, static_cast<std::uint32_t>(part.function), to_bytes(part.args)});
  }
  return launch;
}

}  // namespace

Result<void> DeviceClient::launch(const Launch& what) {
  return state_->wait(to_message(what, state_->most_workitems, true), static_cast<std::uint32_t>(what.stream));
}

Result<void> DeviceClient::launch_async(const Launch& what) {
  if (auto good = state_->check_process(); !good) return good;
  return state_->rpc.send(to_message(what, state_->most_workitems, false));
}

Result<void> DeviceClient::sync(StreamId stream) {
  const auto number = static_cast<std::uint32_t>(stream);
  return state_->wait(Sync{number}, number);
}

void DeviceClient::cancel(StreamId stream) {
  if (!state_->check_process()) return;
  static_cast<void>(state_->rpc.send(Cancel{static_cast<std::uint32_t>(stream)}));
}

Result<void> DeviceClient::sync_device() { return state_->wait(Sync{0}, 0); }

Result<void> DeviceClient::set_timeout(StreamId stream, std::uint32_t milliseconds) {
  return to_void(state_->call<Done>(SetTimeout{static_cast<std::uint32_t>(stream), milliseconds}));
}

// ---- What checks want to know ----

void DeviceClient::note(HostEvent event, std::uint64_t address, std::uint64_t bytes, bool wait,
                        const std::string& text) {
  if (!state_->check_process()) return;
  const HostNote message{event, wait, address,
                         bytes, text, event == HostEvent::kWrote ? std::vector<std::string>() : host::call_stack()};
  if (wait) {
    static_cast<void>(state_->rpc.call<Done>(message));
  } else {
    static_cast<void>(state_->rpc.send(message));
  }
}

void DeviceClient::note_written(std::uint64_t address, std::uint64_t bytes) {
  if (state_->watched) note(HostEvent::kWrote, address, bytes, false);
}

void DeviceClient::note_refused_copy(const std::string& text) {
  if (state_->watched) note(HostEvent::kRefusedCopy, 0, 0, true, text);
}

void DeviceClient::note_closed() {
  if (state_->watched) note(HostEvent::kClosed, 0, 0, true);
}

Result<std::optional<DeviceClient::EstimatedTime>> DeviceClient::estimated_time(StreamId stream) {
  auto reply = state_->call<StreamTimeReply>(StreamTime{static_cast<std::uint32_t>(stream)});
  if (!reply) return reply.error();
  if (reply->last_ns == 0) return std::optional<EstimatedTime>();
  constexpr std::uint64_t kHalf = 500;
  return std::optional(
      EstimatedTime{(reply->last_ns + kHalf) / 1000, (reply->total_ns + kHalf) / 1000, reply->total_ns});
}

Result<DeviceStat> DeviceClient::stat() {
  auto reply = state_->call<StatReply>(Stat{});
  if (!reply) return reply.error();
  DeviceStat stat;
  stat.bytes_total = reply->bytes_total;
  stat.bytes_used = reply->bytes_used;
  stat.launches = reply->launches;
  stat.failures = reply->failures;
  stat.core_restarts = reply->core_restarts;
  stat.clients = static_cast<std::uint32_t>(reply->clients.size());
  stat.queued = reply->queued;
  return stat;
}

}  // namespace softtpu
