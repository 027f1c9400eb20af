// What only a board has, and links between chips.
#include <vector>

#include "host/tpuv7/support.hpp"
#include "tpuv7/tpuv7_manager.h"

namespace softtpu::tpuv7 {
namespace {

constexpr const char* kSensors = "the board and its sensors";
constexpr const char* kNumbers = "serial numbers and slots of a board";

}  // namespace
}  // namespace softtpu::tpuv7

using namespace softtpu;
using namespace softtpu::tpuv7;

extern "C" {

tpuRtStatus_t tpuRtGetBoardMaxPower(int /*device_id*/, int* /*board_max_power*/) try {
  return no_feature(__func__, kSensors);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetBoardPower(int /*device_id*/, int* /*board_power*/) try {
  return no_feature(__func__, kSensors);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetBoardTemp(int /*device_id*/, int* /*board_temp*/) try {
  return no_feature(__func__, kSensors);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetChipTemp(int /*device_id*/, int* /*chip_temp*/) try {
  return no_feature(__func__, kSensors);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetSN(int /*device_id*/, char* /*sn*/) try { return no_feature(__func__, kNumbers); } catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetChipSN(int /*device_id*/, char* /*sn*/) try {
  return no_feature(__func__, kNumbers);
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtGetPcieStatus(int /*device_id*/, int* /*pcie_id*/) try {
  return no_feature(__func__, kNumbers);
} catch (...) {
  return softtpu::caught(__func__);
}

tpuRtStatus_t tpuRtSetupC2C(int device_id) try {
  int count = 0;
  if (const auto status = tpuRtGetDeviceCount(&count); status != tpuRtSuccess) return status;
  if (device_id >= 0 && device_id < count) return tpuRtSuccess;
  return fail(__func__, tpuRtErrorInvalidValue,
              "device " + std::to_string(device_id) + " is out of range (0 to " + std::to_string(count - 1) + ")");
} catch (...) {
  return softtpu::caught(__func__);
}
tpuRtStatus_t tpuRtSetupTopology(void) { return tpuRtSuccess; }

tpuRtStatus_t tpuRtGetTopology(struct c2c_port_info** topology) try {
  SOFTTPU_RT_NOT_NULL(topology, tpuRtErrorInvalidValue);
  int count = 0;
  if (const auto status = tpuRtGetDeviceCount(&count); status != tpuRtSuccess) return status;
  static auto& links = *new std::vector<c2c_port_info>([&] {
    std::vector<c2c_port_info> made;
    for (int id = 0; id < count; ++id) {
      const auto number = static_cast<std::uint16_t>(id);
      made.push_back({static_cast<std::uint32_t>(count), number, number, 0, 0, -1, -1});
    }
    return made;
  }());
  *topology = links.data();
  return tpuRtSuccess;
} catch (...) {
  return softtpu::caught(__func__);
}

}  // extern "C"
