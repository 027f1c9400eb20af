// Devices: which there are, and which one a program uses.
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "host/client/driver.hpp"
#include "host/tpuv7/support.hpp"
#include "tpuv7/tpuv7_manager.h"

namespace softtpu::tpuv7 {
namespace {

constexpr int kNone = -1;

struct Chosen {
  std::mutex mutex;
  int last = kNone;
  std::map<int, std::shared_ptr<DeviceClient>> opened;
};
Chosen& chosen() {
  static auto& instance = *new Chosen;
  return instance;
}

// Of this thread. One that has chosen none uses what the program chose last.
thread_local int own_choice = kNone;

int current_number() {
  Chosen& devices = chosen();
  const std::lock_guard lock(devices.mutex);
  return own_choice != kNone ? own_choice : devices.last;
}

tpuRtStatus_t refuse_none(const char* function) {
  return fail(function, tpuRtErrorNoDevice, "no device is chosen: call tpuRtSetDevice first");
}

// Of the device with this number, which is started if need be.
template <class Use>
tpuRtStatus_t with_device(const char* function, int id, Use use) {
  const auto device = open_device(function, id);
  return device != nullptr ? use(*device) : tpuRtErrorInvalidValue;
}

tpuRtStatus_t with_stat(const char* function, DeviceClient& device, const std::function<void(const DeviceStat&)>& use) {
  const Result<DeviceStat> stat = device.stat();
  if (!stat) return fail(function, stat.error());
  use(*stat);
  return tpuRtSuccess;
}

template <std::size_t N>
void set_text(char (&to)[N], const std::string& text) {
  to[text.copy(to, N - 1)] = '\0';
}

}  // namespace

std::shared_ptr<DeviceClient> open_device(const char* function, int id) {
  auto device = DeviceClient::open(id, host::kChipOfTpuv7);
  if (device) return *device;
  fail(function, tpuRtErrorInvalidValue, device.error().text);
  return nullptr;
}

std::shared_ptr<DeviceClient> current_device(const char* function) {
  const int number = current_number();
  if (number == kNone) {
    refuse_none(function);
    return nullptr;
  }
  Chosen& devices = chosen();
  const std::lock_guard lock(devices.mutex);
  return devices.opened[number];
}

}  // namespace softtpu::tpuv7

using namespace softtpu;
using namespace softtpu::tpuv7;

extern "C" {

tpuRtStatus_t tpuRtInit(void) { return tpuRtSuccess; }

tpuRtStatus_t tpuRtGetDeviceCount(int* count) try {
  SOFTTPU_RT_NOT_NULL(count, tpuRtErrorInvalidValue);
  const Result<int> found = DeviceClient::device_count();
  if (!found) return fail(__func__, found.error());
  *count = *found;
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetChipCount(int* chip_count) try {
  SOFTTPU_RT_NOT_NULL(chip_count, tpuRtErrorInvalidValue);
  return tpuRtGetDeviceCount(chip_count);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtSetDevice(int device) try {
  const auto opened = DeviceClient::open(device, host::kChipOfTpuv7);
  if (!opened && opened.error().kind == ErrorKind::kUsage)
    return fail(__func__, tpuRtErrorInvalidValue, opened.error().text);
  if (!opened) return fail(__func__, opened.error());
  Chosen& devices = chosen();
  const std::lock_guard lock(devices.mutex);
  devices.opened[device] = *opened;
  devices.last = own_choice = device;
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetDevice(int* device) try {
  SOFTTPU_RT_NOT_NULL(device, tpuRtErrorInvalidValue);
  const int number = current_number();
  if (number == kNone) return refuse_none(__func__);
  *device = number;
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetDeviceProperties(tpuRtDeviceProperties_t* props, int device_id) try {
  SOFTTPU_RT_NOT_NULL(props, tpuRtErrorInvalidValue);
  return with_device(__func__, device_id, [&](const DeviceClient& device) {
    *props = {};
    set_text(props->name, host::board_name(device.info().chip_name));
    props->totalGlobalMem = device.info().global_bytes;
    return tpuRtSuccess;
  });
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetFd(int* fd) try {
  SOFTTPU_RT_NOT_NULL(fd, tpuRtErrorInvalidValue);
  *fd = -1;
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetUniqueId(char* uuid) try {
  SOFTTPU_RT_NOT_NULL(uuid, tpuRtErrorInvalidValue);
  uuid[0] = '0';
  uuid[1] = '\0';
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtDeviceSynchronize(void) try {
  SOFTTPU_RT_DEVICE(device);
  if (host::Stream::is_any_own_thread())
    return fail(__func__, tpuRtErrBusy, "a callback cannot wait for the streams of the device");
  return to_status(__func__, host::Stream::synchronize_all(*device), true);
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- Memory of the device ----

tpuRtStatus_t tpuRtGetAllMemory(uint64_t* value) try {
  SOFTTPU_RT_NOT_NULL(value, tpuRtErrorInvalidValue);
  SOFTTPU_RT_DEVICE(device);
  return with_stat(__func__, *device, [&](const DeviceStat& stat) { *value = stat.bytes_total; });
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetFreeMemory(uint64_t* value) try {
  SOFTTPU_RT_NOT_NULL(value, tpuRtErrorInvalidValue);
  SOFTTPU_RT_DEVICE(device);
  return with_stat(__func__, *device, [&](const DeviceStat& stat) { *value = stat.bytes_total - stat.bytes_used; });
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetPeakMemory(uint64_t* value) try {
  SOFTTPU_RT_NOT_NULL(value, tpuRtErrorInvalidValue);
  SOFTTPU_RT_DEVICE(device);
  *value = device->peak_bytes();
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtResetPeakMemory(void) try {
  SOFTTPU_RT_DEVICE(device);
  device->reset_peak();
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

// ---- Boards ----

tpuRtStatus_t tpuRtGetStat(int device_id, dev_stat_t* stat) try {
  SOFTTPU_RT_NOT_NULL(stat, tpuRtErrorInvalidValue);
  const char* const function = __func__;
  return with_device(function, device_id, [&](DeviceClient& device) {
    return with_stat(function, device, [&](const DeviceStat& now) {
      *stat = {};
      stat->Mem_total = static_cast<long long>(now.bytes_total);
      stat->Mem_used = static_cast<long long>(now.bytes_used);
      stat->Tpu_util = now.queued != 0 ? 100 : 0;
    });
  });
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetMiscInfo(int device_id, tpuRt_misc_info_t* misc) try {
  SOFTTPU_RT_NOT_NULL(misc, tpuRtErrorInvalidValue);
  return with_device(__func__, device_id, [&](const DeviceClient& device) {
    *misc = {};
    set_text(misc->driver_version, host::driver_version_text());
    set_text(misc->chipid, fmt::format("0x{:x}", device.info().chip_id));
    return tpuRtSuccess;
  });
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetBoardName(int device_id, char* board_name) try {
  SOFTTPU_RT_NOT_NULL(board_name, tpuRtErrorInvalidValue);
  return with_device(__func__, device_id, [&](const DeviceClient& device) {
    const std::string name = host::board_name(device.info().chip_name);
    board_name[name.copy(board_name, name.size())] = '\0';
    return tpuRtSuccess;
  });
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtGetTpuGoodNumber(int device_id, int* tpu_good_number) try {
  SOFTTPU_RT_NOT_NULL(tpu_good_number, tpuRtErrorInvalidValue);
  return with_device(__func__, device_id, [&](const DeviceClient& device) {
    *tpu_good_number = static_cast<int>(device.info().core_count);
    return tpuRtSuccess;
  });
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
