// DeviceClient: launches, streams, notes to the device's checks, and figures of the device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "host/client/call_stack.hpp"
#include "host/client/device_client.hpp"
#include "host/client/device_client_state.hpp"
#include "host/client/device_connection.hpp"

namespace softtpu {

std::string hint_at_own_kernels() {
  const unsigned long count = own_kernel_count();
  return fmt::format(
      "\n - This program has {} kernel{} linked in, which run in the program itself only: unset SOFTTPU_DEVICE (now "
      "{})."
      "\n - Another device needs them as a module (gcc -shared): tpu_kernel_load_module_file, or "
      "TPUKERNEL_FIRMWARE_PATH.",
      count, count == 1 ? "" : "s", std::getenv("SOFTTPU_DEVICE") != nullptr ? std::getenv("SOFTTPU_DEVICE") : "");
}

StreamId DeviceClient::make_stream() { return StreamId{++state_->last_stream}; }

void DeviceClient::close_stream(StreamId stream) {
  // Of a destructor: without memory for the message the stream is closed at the end of the connection.
  try {
    if (state_->check_process())
      static_cast<void>(state_->rpc.send(msg::CloseStream{static_cast<std::uint32_t>(stream)}));
  } catch (const std::bad_alloc&) {
  }
}

// Fewer workitems than a launch asks for would leave the others' part of the result undone.
Result<void> DeviceClient::limit_cores(msg::Launch& launch) const {
  const std::uint32_t most = state_->most_workitems, cores = state_->info.core_count;
  if (most != 0) launch.cores = std::min(launch.cores, most);
  if (launch.cores <= cores) return {};
  return Error{
      ErrorKind::kUsage,
      fmt::format("the launch asks for {} workitems, and chip {} has {} core{}. SOFTTPU_CHIP (or CHIP_ARCH) names "
                  "the chip; TPU_RT_CORE_NUM={} allows a launch as many workitems as there are cores.",
                  launch.cores, state_->info.chip_name, cores, cores == 1 ? "" : "s", cores)};
}

Result<void> DeviceClient::launch(msg::Launch launch) {
  if (auto good = limit_cores(launch); !good) return good;
  launch.wait = true;
  return state_->wait(launch, launch.stream);
}

Result<void> DeviceClient::launch_async(msg::Launch launch) {
  if (auto good = state_->check_process(); !good) return good;
  if (auto good = limit_cores(launch); !good) return good;
  launch.wait = false;
  return state_->rpc.send(launch);
}

Result<void> DeviceClient::sync(StreamId stream) {
  const auto number = static_cast<std::uint32_t>(stream);
  return state_->wait(msg::Sync{number}, number);
}

void DeviceClient::cancel(StreamId stream) {
  if (!state_->check_process()) return;
  static_cast<void>(state_->rpc.send(msg::Cancel{static_cast<std::uint32_t>(stream)}));
}

Result<void> DeviceClient::sync_device() { return state_->wait(msg::Sync{0}, 0); }

Result<void> DeviceClient::set_timeout(StreamId stream, std::uint32_t milliseconds) {
  return to_void(state_->call<msg::Done>(msg::SetTimeout{static_cast<std::uint32_t>(stream), milliseconds}));
}

// ---- Facts for the checks ----

namespace {

bool needs_stack(HostEvent event) { return event != HostEvent::kWrote && event != HostEvent::kSynced; }

}  // namespace

void DeviceClient::note(HostEvent event, std::uint64_t address, std::uint64_t bytes, bool wait,
                        const std::string& text) {
  if (!state_->check_process()) return;
  const msg::HostNote message{event, wait, address,
                              bytes, text, needs_stack(event) ? host::call_stack() : std::vector<std::string>()};
  if (wait) {
    static_cast<void>(state_->rpc.call<msg::Done>(message));
  } else {
    static_cast<void>(state_->rpc.send(message));
  }
}

void DeviceClient::note_written(std::uint64_t address, std::uint64_t bytes) {
  if (state_->watched) note(HostEvent::kWrote, address, bytes, false);
}

void DeviceClient::note_type(std::uint64_t address, const std::string& type) {
  if (state_->watched) note(HostEvent::kAllocated, address, 0, false, type.empty() ? "unknown" : type);
}

void DeviceClient::note_refused_copy(const std::string& text) {
  if (state_->watched) note(HostEvent::kRefusedCopy, 0, 0, true, text);
}

void DeviceClient::note_synced() {
  if (state_->watched) note(HostEvent::kSynced, 0, 0, false);
}

void DeviceClient::note_unordered_copy(const char* function, std::uint64_t address, std::uint64_t bytes,
                                       bool to_device) {
  if (!state_->watched) return;
  note(to_device ? HostEvent::kUnorderedWrite : HostEvent::kUnorderedRead, address, bytes, true, function);
}

void DeviceClient::note_closed() {
  if (state_->watched) note(HostEvent::kClosed, 0, 0, true);
}

Result<std::optional<DeviceClient::EstimatedTime>> DeviceClient::estimated_time(StreamId stream) {
  auto reply = state_->call<msg::StreamTimeReply>(msg::StreamTime{static_cast<std::uint32_t>(stream)});
  if (!reply) return reply.error();
  if (reply->last_ns == 0) return std::optional<EstimatedTime>();
  constexpr std::uint64_t kHalf = 500;
  return std::optional(
      EstimatedTime{(reply->last_ns + kHalf) / 1000, (reply->total_ns + kHalf) / 1000, reply->total_ns});
}

Result<DeviceStat> DeviceClient::stat() {
  auto reply = state_->call<msg::StatReply>(msg::Stat{});
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
