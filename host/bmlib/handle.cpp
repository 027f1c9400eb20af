// Handles and devices.
#include "host/bmlib/handle.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/client/tables.hpp"

namespace softtpu::host {
namespace {

// Never destroyed: exit handlers of the program may still use handles.
HandleTable<Handle>& handles() {
  static auto& instance = *new HandleTable<Handle>;
  return instance;
}

}  // namespace

void Handle::note_launch() {
  const std::lock_guard lock(mutex_);
  launching_threads_.insert(std::this_thread::get_id());
}

bool Handle::take_launched_by_this_thread() {
  const std::lock_guard lock(mutex_);
  return launching_threads_.erase(std::this_thread::get_id()) != 0;
}

CallTimer::~CallTimer() {
  const auto spent = std::chrono::steady_clock::now() - start_;
  const auto us = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(spent).count());
  handle_.last_call_us.store(us, std::memory_order_relaxed);
  handle_.total_call_us.fetch_add(us, std::memory_order_relaxed);
}

bm_handle_t add_handle(std::shared_ptr<Handle> handle) {
  void* const name = stream_table().add(handle->shared_stream());
  handles().add_as(name, std::move(handle));
  return static_cast<bm_handle_t>(name);
}

std::shared_ptr<Handle> find_handle(const char* function, bm_handle_t handle) {
  if (handle == nullptr) {
    fail(function, BM_ERR_DEVNOTREADY, "handle is NULL");
    return nullptr;
  }
  auto found = handles().find(handle);
  if (found == nullptr) {
    fail(function, BM_ERR_DEVNOTREADY,
         fmt::format("handle {} was freed or never requested", static_cast<const void*>(handle)));
  }
  return found;
}

namespace {

// The number of devices, or the status of not knowing it.
bm_status_t device_count(const char* function, int& count) {
  const Result<int> result = DeviceClient::device_count();
  if (!result) return fail(function, result.error());
  count = *result;
  return BM_SUCCESS;
}

bm_status_t check_device_id(const char* function, int devid) {
  if (DeviceClient::find_alone(devid) != nullptr) return BM_SUCCESS;
  int count = 0;
  if (const bm_status_t status = device_count(function, count); status != BM_SUCCESS) return status;
  if (devid >= 0 && devid < count) return BM_SUCCESS;
  return fail(function, BM_ERR_PARAM,
              fmt::format("device id {} is outside 0..{} (number of devices: {})", devid, count - 1, count));
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t bm_dev_getcount(int* count) try {
  SOFTTPU_NOT_NULL(count);
  return device_count(__func__, *count);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_dev_query(int devid) try { return check_device_id(__func__, devid); } catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_dev_request(bm_handle_t* handle, int devid) try {
  SOFTTPU_NOT_NULL(handle);
  *handle = nullptr;
  if (const bm_status_t status = check_device_id(__func__, devid); status != BM_SUCCESS) return status;
  // libbmrt, which uses a device that the program owns, opens another handle of it by the device's number.
  std::shared_ptr<DeviceClient> alone = DeviceClient::find_alone(devid);
  const Result<std::shared_ptr<DeviceClient>> device =
      alone != nullptr ? Result(std::move(alone)) : DeviceClient::open(devid);
  if (!device) return fail(__func__, device.error());
  *handle = add_handle(std::make_shared<Handle>(Stream::make(*device)));
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

int bm_get_devid(bm_handle_t handle) try {
  SOFTTPU_HANDLE_OR(handle, -1);
  return h->device().device_id();
} catch (...) {
  return softtpu::caught(__func__);
}

void bm_dev_free(bm_handle_t handle) try {
  const std::shared_ptr<Handle> h = find_handle(__func__, handle);
  if (h == nullptr) return;
  handles().take(handle);
  stream_table().take(handle);
  bool last = true;
  for (const auto& other : handles().all()) last = last && &other->device() != &h->device();
  if (last) h->device().note_closed();
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
