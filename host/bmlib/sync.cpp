// Waiting for launches.
#include <fmt/format.h>

#include "host/bmlib/launch.hpp"

using namespace softtpu::host;

extern "C" {

bm_status_t bm_device_sync(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  const CallTimer timer(*h);
  return to_status(__func__, Stream::synchronize_all(h->device()), true);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_handle_sync(bm_handle_t handle) try { return sync(__func__, handle); } catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_handle_sync_from_core(bm_handle_t handle, int core_id) try {
  SOFTTPU_HANDLE(handle);
  const bm_status_t status = check_core(__func__, *h, core_id);
  return status == BM_SUCCESS ? sync(__func__, handle) : status;
} catch (...) {
  return softtpu::caught(__func__);
}

// A thread that launched nothing since it last waited need not wait for the others.
bm_status_t bm_thread_sync(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  return h->take_launched_by_this_thread() ? sync(__func__, handle) : BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_thread_sync_from_core(bm_handle_t handle, int core_id) try {
  SOFTTPU_HANDLE(handle);
  const bm_status_t status = check_core(__func__, *h, core_id);
  return status == BM_SUCCESS ? bm_thread_sync(handle) : status;
} catch (...) {
  return softtpu::caught(__func__);
}

void bm_flush(bm_handle_t handle) try { sync(__func__, handle); } catch (...) {
  softtpu::caught(__func__);
}

bm_status_t bm_set_sync_timeout(bm_handle_t handle, int timeout) try {
  SOFTTPU_HANDLE(handle);
  if (timeout < 0) return fail(__func__, BM_ERR_PARAM, fmt::format("timeout {} ms is negative", timeout));
  return to_status(__func__, h->device().set_timeout(h->stream().id(), static_cast<unsigned>(timeout)));
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
