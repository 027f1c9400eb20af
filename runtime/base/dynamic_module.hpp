// The name of softtpu's own module for dynamic parts of networks (firmware/dynamic). It stands for the chip's firmware.
#pragma once

namespace softtpu {

inline constexpr const char* kDynamicModule = "softtpu_dynamic.so";

}  // namespace softtpu
