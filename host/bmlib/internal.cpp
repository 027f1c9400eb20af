// What tools and older programs call besides the published functions: messages to a firmware, the driver's version,
// copies that poll.
#include "bmlib_internal.h"

#include <fmt/format.h>

#include <chrono>

#include "host/bmlib/handle.hpp"
#include "host/client/driver.hpp"

namespace {

constexpr const char* kClock = "the clock of the chip";
constexpr const char* kReset = "a reset of the chip's units";
constexpr const char* kKeys = "keys in the chip's fuses";

bm_status_t refuse_message(const char* function, int api_id) {
  return softtpu::host::not_supported(
      function, fmt::format("message {} is for the chip's firmware, which is not here: kernels are launched by "
                            "tpu_kernel_launch, networks by libbmrt",
                            api_id));
}

}  // namespace

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t bm_send_api(bm_handle_t handle, int api_id, const u8* /*api*/, u32 /*size*/) try {
  SOFTTPU_HANDLE(handle);
  return refuse_message(__func__, api_id);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_send_api_ext(bm_handle_t handle, int api_id, const u8* /*api*/, u32 /*size*/, u64* /*api_handle*/) try {
  SOFTTPU_HANDLE(handle);
  return refuse_message(__func__, api_id);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_send_api_to_core(bm_handle_t handle, int api_id, const u8* /*api*/, u32 /*size*/, int /*core_id*/) try {
  SOFTTPU_HANDLE(handle);
  return refuse_message(__func__, api_id);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_sync_api(bm_handle_t handle) try { return bm_thread_sync(handle); } catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_sync_api_from_core(bm_handle_t handle, int core_id) try {
  return bm_thread_sync_from_core(handle, core_id);
} catch (...) {
  return softtpu::caught(__func__);
}

u64 bm_get_version(bm_handle_t handle) try {
  return find_handle(__func__, handle) == nullptr ? 0 : static_cast<u64>(kDriverVersion);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_device_time_us(bm_handle_t handle, unsigned long* time_us) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(time_us);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *time_us = static_cast<unsigned long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_memcpy_s2d_poll(bm_handle_t handle, bm_device_mem_t dst, void* src) try {
  return bm_memcpy_s2d(handle, dst, src);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_s2d_poll(bm_handle_t handle, sg_device_mem_t dst, void* src) try {
  return sg_memcpy_s2d(handle, dst, src);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_s2d_poll_u64(bm_handle_t handle, bm_device_mem_u64_t dst, void* src) try {
  return bm_memcpy_s2d_u64(handle, dst, src);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_poll(bm_handle_t handle, void* dst, bm_device_mem_t src, unsigned int size) try {
  return bm_memcpy_d2s_partial(handle, dst, src, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_memcpy_d2s_poll(bm_handle_t handle, void* dst, sg_device_mem_t src, unsigned long long size) try {
  return sg_memcpy_d2s_partial(handle, dst, src, size);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_memcpy_d2s_poll_u64(bm_handle_t handle, void* dst, bm_device_mem_u64_t src,
                                   unsigned long long size) try {
  return bm_memcpy_d2s_partial_u64(handle, dst, src, size);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_set_module_reset(bm_handle_t handle, MODULE_ID /*module*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kReset);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_set_clk_tpu_divider(bm_handle_t handle, int /*divider*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_is_seckey_valid(bm_handle_t handle, int* /*is_valid*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kKeys);
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
