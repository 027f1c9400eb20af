// What the emulated board and its driver are called.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/text.hpp"

namespace softtpu::host {

// tpuv7_rt and tpuDNN are the libraries of this chip and newer ones: what their programs run on where nothing names a
// chip.
inline constexpr std::string_view kChipOfTpuv7 = "bm1690";

// One byte each.
inline constexpr int kDriverVersion = SOFTTPU_VERSION_MAJOR << 16 | SOFTTPU_VERSION_MINOR << 8 | SOFTTPU_VERSION_PATCH;

inline std::string driver_version_text() {
  return std::to_string(kDriverVersion >> 16) + "." + std::to_string(kDriverVersion >> 8 & 255) + "." +
         std::to_string(kDriverVersion & 255);
}

// "1684X-EMU": chip and board, in the SDK's form.
inline std::string board_name(const std::string& chip) {
  return to_upper(chip.starts_with("bm") ? chip.substr(2) : chip) + "-EMU";
}

}  // namespace softtpu::host
