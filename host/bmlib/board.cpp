// What belongs to a board and has no meaning in an emulator. Each function says so once in the log.
#include "bmlib_internal.h"
#include "host/bmlib/handle.hpp"

namespace {

constexpr const char* kBoard = "the board and its sensors";
constexpr const char* kClock = "the clock of the chip";
constexpr const char* kBoot = "a boot loader";
constexpr const char* kMedia = "video and picture units";
constexpr const char* kProfile =
    "the profile of the SDK's networks; `softtpu run --trace` and `--time` show what a program does";
constexpr const char* kRegisters = "registers of the chip";
constexpr const char* kHostMemory = "memory of the host by its physical address";
constexpr const char* kMonitor = "the performance monitors of the chip; use softtpu's own trace and timing";

}  // namespace

using namespace softtpu::host;

extern "C" {

bm_status_t bm_get_tpu_current(bm_handle_t handle, unsigned int* /*tpuc*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_board_max_power(bm_handle_t handle, unsigned int* /*maxp*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_board_power(bm_handle_t handle, unsigned int* /*boardp*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_fan_speed(bm_handle_t handle, unsigned int* /*fan*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_ecc_correct_num(bm_handle_t handle, unsigned long* /*ecc_correct_num*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_12v_atx(bm_handle_t handle, int* /*atx_12v*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_product_sn(char* /*product_sn*/) try { return no_feature(__func__, kBoard); } catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_sn(bm_handle_t handle, char* /*sn*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_board_temp(bm_handle_t handle, unsigned int* /*board_temp*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_chip_temp(bm_handle_t handle, unsigned int* /*chip_temp*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_tpu_power(bm_handle_t handle, float* /*tpu_power*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_tpu_volt(bm_handle_t handle, unsigned int* /*tpu_volt*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoard);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_set_clk_tpu_freq(bm_handle_t handle, int /*freq*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_clk_tpu_freq(bm_handle_t handle, int* /*freq*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_tpu_maxclk(bm_handle_t handle, unsigned int* /*tpu_maxclk*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_tpu_minclk(bm_handle_t handle, unsigned int* /*tpu_minclk*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_dynfreq_status(bm_handle_t handle, int* /*dynfreq_status*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_change_dynfreq_status(bm_handle_t handle, int /*new_status*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kClock);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_boot_loader_version(bm_handle_t handle, boot_loader_version* /*version*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kBoot);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_vpu_instant_usage(bm_handle_t handle, int* /*vpu_usage*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kMedia);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_jpu_core_usage(bm_handle_t handle, int* /*jpu_usage*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kMedia);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_vpp_instant_usage(bm_handle_t handle, int* /*vpp_usage*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kMedia);
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_enable_perf_monitor(bm_handle_t handle, bm_perf_monitor_t* /*perf_monitor*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kMonitor);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_disable_perf_monitor(bm_handle_t handle, bm_perf_monitor_t* /*perf_monitor*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kMonitor);
} catch (...) {
  return softtpu::caught(__func__);
}

void bm_set_debug_mode(bm_handle_t handle, int /*mode*/) try {
  if (find_handle(__func__, handle) != nullptr) no_feature(__func__, "a debug log of the chip's firmware");
} catch (...) {
  softtpu::caught(__func__);
}
void bmlib_set_api_dbg_callback(bmlib_api_dbg_callback /*callback*/) try {
  no_feature(__func__, "a debug log of the chip's firmware");
} catch (...) {
  softtpu::caught(__func__);
}

bm_status_t bm_get_reg(bm_handle_t handle, struct bm_reg* /*p_reg*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kRegisters);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_set_reg(bm_handle_t handle, struct bm_reg* /*p_reg*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kRegisters);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_rw_host(bm_handle_t handle, struct bm_rw* /*p_rw*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kHostMemory);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_rw_mix(bm_handle_t handle, struct bm_rw* /*p_rw*/) try {
  SOFTTPU_HANDLE(handle);
  return no_feature(__func__, kHostMemory);
} catch (...) {
  return softtpu::caught(__func__);
}

void bm_profile_record_send_api(bm_handle_t /*handle*/, u32 /*api_id*/, const void* /*param*/, int /*core_id*/) try {
  no_feature(__func__, kProfile);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_profile_record_sync_begin(bm_handle_t /*handle*/, int /*core_id*/) try {
  no_feature(__func__, kProfile);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_profile_record_sync_end(bm_handle_t /*handle*/, int /*core_id*/) try {
  no_feature(__func__, kProfile);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_profile_record_memcpy_begin(bm_handle_t /*handle*/) try { no_feature(__func__, kProfile); } catch (...) {
  softtpu::caught(__func__);
}
void bm_profile_record_memcpy_end(bm_handle_t /*handle*/, u64 /*src_addr*/, u64 /*dst_addr*/, u32 /*size*/,
                                  u32 /*dir*/) try {
  no_feature(__func__, kProfile);
} catch (...) {
  softtpu::caught(__func__);
}
void bm_profile_record_mem_begin(bm_handle_t /*handle*/) try { no_feature(__func__, kProfile); } catch (...) {
  softtpu::caught(__func__);
}
void bm_profile_record_mem_end(bm_handle_t /*handle*/, bm_mem_op_type_t /*type*/, u64 /*device_addr*/,
                               u32 /*size*/) try {
  no_feature(__func__, kProfile);
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
