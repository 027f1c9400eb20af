// What a DeviceClient is made of: its connection, its memory and what it knows of them. Of device_client*.cpp alone.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/client/device_client.hpp"
#include "host/client/device_connection.hpp"
#include "host/client/finding_report.hpp"
#include "host/client/interrupt.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/memory_ops.hpp"
#include "runtime/module/module_image.hpp"
#include "runtime/transport/rpc_client.hpp"

namespace softtpu {

// Forks of this process image, counted in the child.
extern std::atomic<int> device_forks;

Error with_prefix(const char* what, const Error& error);
Result<void> to_void(const Result<msg::Done>& done);
// What to do about a kernel that only this program has, and not the device.
std::string hint_at_own_kernels();
// A private device that shall run the instrumented module needs its runtime from the start.
void add_preload(Settings& settings, int fd);
// Whether the device of these settings is a process of this program alone.
bool is_private(const Settings& settings);
// The first answer of the server that listens there.
Result<msg::HelloReply> greet(RpcClient& rpc, const Settings& settings);

// The process of a private device whose parent has become this process: the first one of its PID namespace, or one that
// adopts what its children leave. Waits for its end, so that no zombie stays. Declared before the connection, whose end
// is the device's.
class AdoptedDevice {
 public:
  AdoptedDevice() = default;
  ~AdoptedDevice();
  AdoptedDevice(const AdoptedDevice&) = delete;
  AdoptedDevice& operator=(const AdoptedDevice&) = delete;
  static bool is_expected();
  void set(pid_t device) { device_ = device; }

 private:
  pid_t device_ = 0;
  const pid_t owner_ = ::getpid();
};

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
    if (device_forks.load(std::memory_order_relaxed) == fork_count) return {};
    return Error{ErrorKind::kUsage,
                 fmt::format("device {} belongs to process {}, which requested it, not to its fork {}.", device_id,
                             process, ::getpid())};
  }
  Result<void> check_range(const char* what, std::uint64_t address, std::uint64_t bytes) const {
    if (auto own = check_process(); !own) return own;
    // What is mapped can still be read and written, but it no longer reaches the device.
    if (rpc.is_broken()) return Error{ErrorKind::kConnection, RpcClient::kEnded};
    const std::shared_lock lock(mutex);
    return check_allocated(allocations, what, address, bytes);
  }
  std::uint8_t* at(std::uint64_t address) const { return memory + (address - info.global_start); }

  template <class Reply, class Request>
  Result<Reply> call(const Request& request, std::span<const int> fds = {}, std::vector<UniqueFd>* received = nullptr) {
    if (auto own = check_process(); !own) return own.error();
    if constexpr (!std::is_same_v<Request, msg::Stat>) used = true;
    return rpc.call<Reply>(request, fds, received);
  }

  // A launch, or a wait for launches: ends early with what the program's language has raised meanwhile.
  template <class Request>
  Result<void> wait(const Request& request, std::uint32_t stream) {
    if (auto own = check_process(); !own) return own;
    static bool (*const is_wanted)() = host::find_interrupt();
    Interrupt interrupt{is_wanted, {}};
    if (is_wanted != nullptr) append_frame(interrupt.frame, 0, msg::Cancel{stream});
    auto done = rpc.call<msg::Done>(request, {}, nullptr, is_wanted != nullptr ? &interrupt : nullptr);
    if (done) return {};
    Error error = done.error();
    const bool unknown = error.text.find(kNotRegistered) != std::string::npos;
    if (unknown && !info.in_process && own_kernel_count() > 0) error.text += hint_at_own_kernels();
    return error;
  }

  const int device_id;               // of a shared device: its server's number
  int name = device_id;              // what this program calls it
  std::uint32_t number = 0;          // among all devices
  std::uint32_t most_workitems = 0;  // that the settings allow a launch; 0: any number
  const pid_t process = ::getpid();
  const int fork_count = device_forks.load();
  DeviceInfo info;
  std::string preload;             // what the device has loaded before all else
  std::vector<std::string> given;  // settings that count instead of the environment's
  bool may_be_replaced = false;    // a private process
  std::atomic<bool> used = false;  // something was asked of the device
  bool watched = false;            // the device's checks want to know what this program does
  AdoptedDevice adopted;
  bool copies_wait = true;  // for the launches of their handle
  RpcClient rpc;
  FindingReport findings;           // of a device that others share
  std::uint8_t* memory = nullptr;   // global memory, when it is mapped
  bool remote = false;              // no descriptor can be sent
  mutable std::shared_mutex mutex;  // guards what follows
  Allocations allocations;
  Allocations owed;                       // given back by the program; there was no memory to tell the device
  std::uint64_t allocated = 0, peak = 0;  // bytes
  std::optional<ModuleId> default_module;
  std::atomic<std::uint32_t> last_stream{0};
};

}  // namespace softtpu
