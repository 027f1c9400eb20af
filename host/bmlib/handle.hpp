// What stands behind a bm_handle_t. A handle that a program passes in is looked up, never trusted: one that was freed,
// or was never a handle, is refused with a message.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "bmlib_runtime.h"
#include "host/bmlib/log.hpp"
#include "host/bmlib/trace.hpp"
#include "host/client/device_client.hpp"
#include "host/client/stream.hpp"

namespace softtpu::host {

class DeviceNotes;

// One handle: a queue of launches on a device. Lives as long as a call uses it, even if another thread frees it
// meanwhile.
class Handle {
 public:
  explicit Handle(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  DeviceClient& device() const { return stream_->device(); }
  const std::shared_ptr<DeviceClient>& shared_device() const { return stream_->shared_device(); }
  Stream& stream() const { return *stream_; }
  const std::shared_ptr<Stream>& shared_stream() const { return stream_; }
  TraceLog& trace() { return trace_; }

  // bm_thread_sync() waits only if its thread has launched something since it last waited.
  void note_launch();
  bool take_launched_by_this_thread();

  std::shared_ptr<DeviceNotes> notes;          // of a device that softtpu_device_open() has opened
  std::atomic<std::uint64_t> last_call_us{0};  // how long the last launch or sync took
  std::atomic<std::uint64_t> total_call_us{0};

 private:
  const std::shared_ptr<Stream> stream_;
  TraceLog trace_;
  std::mutex mutex_;
  std::set<std::thread::id> launching_threads_;
};

// Gives the handle its name. A name is never given out twice.
bm_handle_t add_handle(std::shared_ptr<Handle> handle);

// The handle, or nullptr after a message in the name of `function`.
std::shared_ptr<Handle> find_handle(const char* function, bm_handle_t handle);

// Measures a launch or a wait for bm_get_last_api_process_time_us() and bm_get_profile().
class CallTimer {
 public:
  explicit CallTimer(Handle& handle) : handle_(handle), start_(std::chrono::steady_clock::now()) {}
  ~CallTimer();
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

 private:
  Handle& handle_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace softtpu::host

// The first lines of a function that takes a handle: `h` is the handle, or the function returns.
#define SOFTTPU_HANDLE_OR(handle, result)                                                        \
  const std::shared_ptr<softtpu::host::Handle> h = softtpu::host::find_handle(__func__, handle); \
  if (h == nullptr) return result
#define SOFTTPU_HANDLE(handle) SOFTTPU_HANDLE_OR(handle, BM_ERR_DEVNOTREADY)

// Refuses a NULL argument by its name.
#define SOFTTPU_NOT_NULL(argument) \
  if ((argument) == nullptr) return softtpu::host::fail(__func__, BM_ERR_PARAM, #argument " is NULL")
