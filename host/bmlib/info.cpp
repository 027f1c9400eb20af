// What a program can ask about a device.
#include <fmt/format.h>

#include <cstring>

#include "bmlib_internal.h"
#include "host/bmlib/descriptor.hpp"
#include "host/bmlib/handle.hpp"
#include "host/client/driver.hpp"

namespace softtpu::host {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

unsigned long chip_bit(std::uint32_t chip_id) {
  switch (chip_id) {
    case 0x1682: return BM1682_CHIPID_BIT_MASK;
    case 0x1684: return BM1684_CHIPID_BIT_MASK;
    case 0x1686: return BM1686_CHIPID_BIT_MASK;
    default: return 0;
  }
}

template <class Mem>
bm_status_t find_heap(const char* function, bm_handle_t handle, const Mem* mem, unsigned* heap_id) {
  const std::shared_ptr<Handle> h = find_handle(function, handle);
  if (h == nullptr) return BM_ERR_DEVNOTREADY;
  if (mem == nullptr || heap_id == nullptr)
    return fail(function, BM_ERR_PARAM, mem == nullptr ? "pmem is NULL" : "heapid is NULL");
  const Result<Range> range = make_range("pmem", *mem);
  if (!range) return fail(function, range.error());
  const Result<std::uint64_t> owner = h->device().allocation_bytes(range->address);
  if (!owner) return fail(function, owner.error());
  *heap_id = 0;
  return BM_SUCCESS;
}

// Each device is a card with one chip.
bm_status_t check_card(const char* function, unsigned card_id) {
  int count = 0;
  if (const bm_status_t status = bm_dev_getcount(&count); status != BM_SUCCESS) return status;
  if (card_id < static_cast<unsigned>(count)) return BM_SUCCESS;
  return fail(function, BM_ERR_PARAM, fmt::format("card_id {} is outside 0..{}", card_id, count - 1));
}

}  // namespace
}  // namespace softtpu::host

using namespace softtpu;
using namespace softtpu::host;

extern "C" {

bm_status_t bm_get_chipid(bm_handle_t handle, unsigned int* p_chipid) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(p_chipid);
  *p_chipid = h->device().info().chip_id;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_misc_info(bm_handle_t handle, struct bm_misc_info* pmisc_info) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(pmisc_info);
  const DeviceInfo& info = h->device().info();
  *pmisc_info = {};
  pmisc_info->pcie_soc_mode = info.soc_mode ? 1 : 0;
  pmisc_info->ddr0a_size = static_cast<long long>(info.global_bytes);
  pmisc_info->chipid = info.chip_id;
  pmisc_info->chipid_bit_mask = chip_bit(info.chip_id);
  pmisc_info->driver_version = kDriverVersion;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_tpu_scalar_num(bm_handle_t handle, unsigned int* core_num) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(core_num);
  *core_num = h->device().info().core_count;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_driver_version(bm_handle_t handle, int* driver_version) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(driver_version);
  *driver_version = kDriverVersion;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_board_name(bm_handle_t handle, char* name) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(name);
  std::strcpy(name, board_name(h->device().info().chip_name).c_str());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

// 0: the device answers, 1: it does not.
bm_status_t bm_get_status(bm_handle_t handle, int* status) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(status);
  *status = h->device().stat() ? 0 : 1;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_card_num(unsigned int* card_num) try {
  SOFTTPU_NOT_NULL(card_num);
  int count = 0;
  if (const bm_status_t status = bm_dev_getcount(&count); status != BM_SUCCESS) return status;
  *card_num = static_cast<unsigned>(count);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_card_id(bm_handle_t handle, unsigned int* card_id) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(card_id);
  *card_id = static_cast<unsigned>(h->device().device_id());
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_chip_num_from_card(unsigned int card_id, unsigned int* chip_num, unsigned int* dev_start_index) try {
  SOFTTPU_NOT_NULL(chip_num);
  SOFTTPU_NOT_NULL(dev_start_index);
  if (const bm_status_t status = check_card(__func__, card_id); status != BM_SUCCESS) return status;
  *chip_num = 1;
  *dev_start_index = card_id;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_stat(bm_handle_t handle, bm_dev_stat_t* stat) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(stat);
  const Result<DeviceStat> now = h->device().stat();
  if (!now) return fail(__func__, now.error());
  const auto total = static_cast<unsigned>(now->bytes_total / kMiB);
  const auto used = static_cast<unsigned>((now->bytes_used + kMiB - 1) / kMiB);
  *stat = {};
  stat->mem_total = static_cast<int>(total);
  stat->mem_used = static_cast<int>(used);
  stat->tpu_util = now->queued != 0 ? 100 : 0;
  stat->heap_num = 1;
  stat->heap_stat[0] = {total, total - used, used};
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_gmem_total_heap_num(bm_handle_t handle, unsigned int* heap_num) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(heap_num);
  *heap_num = 1;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_gmem_heap_stat_byte_by_id(bm_handle_t handle, bm_heap_stat_byte_t* pheap_byte,
                                             unsigned int heap_id) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(pheap_byte);
  if (heap_id != 0) return fail(__func__, BM_ERR_PARAM, fmt::format("heap_id {} is outside 0..0", heap_id));
  const Result<DeviceStat> now = h->device().stat();
  if (!now) return fail(__func__, now.error());
  *pheap_byte = {0, now->bytes_total, now->bytes_total - now->bytes_used, now->bytes_used,
                 h->device().info().heap_start};
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_total_gmem(bm_handle_t handle, unsigned long long* total) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(total);
  const Result<DeviceStat> now = h->device().stat();
  if (!now) return fail(__func__, now.error());
  *total = now->bytes_total;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_avail_gmem(bm_handle_t handle, unsigned long long* avail) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(avail);
  const Result<DeviceStat> now = h->device().stat();
  if (!now) return fail(__func__, now.error());
  *avail = now->bytes_total - now->bytes_used;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_carveout_heap_id(bm_handle_t handle) try {
  SOFTTPU_HANDLE(handle);
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_gmem_heap_id(bm_handle_t handle, bm_device_mem_t* pmem, unsigned int* heapid) try {
  return find_heap(__func__, handle, pmem, heapid);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t sg_get_gmem_heap_id(bm_handle_t handle, sg_device_mem_t* pmem, unsigned int* heapid) try {
  return find_heap(__func__, handle, pmem, heapid);
} catch (...) {
  return softtpu::caught(__func__);
}
bm_status_t bm_get_gmem_heap_id_u64(bm_handle_t handle, bm_device_mem_u64_t* pmem, unsigned int* heapid) try {
  return find_heap(__func__, handle, pmem, heapid);
} catch (...) {
  return softtpu::caught(__func__);
}

// Times are those that this handle's launches would take on the chip when the device estimates them (SOFTTPU_TIME),
// else those that its calls took on the host.
bm_status_t bm_get_profile(bm_handle_t handle, bm_profile_t* profile) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(profile);
  const Result<DeviceStat> now = h->device().stat();
  if (!now) return fail(__func__, now.error());
  const auto estimate = h->device().estimated_time(h->stream().id());
  if (!estimate) return fail(__func__, estimate.error());
  *profile = {};
  profile->tpu_process_time = *estimate ? (*estimate)->total_us : h->total_call_us.load();
  profile->sent_api_counter = now->launches + now->queued;
  profile->completed_api_counter = now->launches;
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

bm_status_t bm_get_last_api_process_time_us(bm_handle_t handle, unsigned long* time_us) try {
  SOFTTPU_HANDLE(handle);
  SOFTTPU_NOT_NULL(time_us);
  const auto estimate = h->device().estimated_time(h->stream().id());
  if (!estimate) return fail(__func__, estimate.error());
  *time_us = *estimate ? (*estimate)->last_us : h->last_call_us.load();
  return BM_SUCCESS;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
