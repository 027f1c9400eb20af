// What the functions of libtpuv7_rt share: statuses, messages, and what stands behind the program's pointers.
#pragma once

#include <bit>
#include <memory>
#include <string>

#include "host/client/caught.hpp"
#include "host/client/tables.hpp"
#include "runtime/base/result.hpp"
#include "tpuv7/tpuv7_rt.h"

namespace softtpu {

template <>
struct CaughtStatus<tpuRtStatus_t> {
  static constexpr tpuRtStatus_t kNoMemory = tpuRtErrNomem, kFailure = tpuRtErrFailure;
};

}  // namespace softtpu

namespace softtpu::tpuv7 {

// What the recorded runtime answers when device memory cannot be had or freed: no enumerator.
inline constexpr tpuRtStatus_t kMemoryRefused = std::bit_cast<tpuRtStatus_t>(-1);

// Logs "function: text" as an error and returns the status.
tpuRtStatus_t fail(const char* function, tpuRtStatus_t status, const std::string& text);
// The same for an error of the device; `of_launch` tells a kernel's own failure from a refused argument.
tpuRtStatus_t fail(const char* function, const Error& error, bool of_launch = false);
tpuRtStatus_t to_status(const char* function, const Result<void>& result, bool of_launch = false);
// tpuRtErrNoFeature; says once for each function why the emulator does not have it.
tpuRtStatus_t no_feature(const char* function, const char* reason);

inline constexpr tpuRtStatus_t kNoHandle = tpuRtErrorInvalidResourceHandle;

// Each is nullptr after a message.
template <class Thing>
std::shared_ptr<Thing> find(const char* function, const host::HandleTable<Thing>& table, const void* name,
                            const char* kind) {
  auto found = table.find(name);
  if (found == nullptr) fail(function, kNoHandle, host::why_unknown(kind, name));
  return found;
}
std::shared_ptr<DeviceClient> current_device(const char* function);                     // else tpuRtErrorNoDevice
std::shared_ptr<DeviceClient> open_device(const char* function, int id);                // else tpuRtErrorInvalidValue
std::shared_ptr<host::Stream> find_stream(const char* function, tpuRtStream_t stream);  // else kNoHandle
std::shared_ptr<host::Event> find_event(const char* function, tpuRtEvent_t event);      // else status_of(event)
inline tpuRtStatus_t status_of(tpuRtEvent_t event) { return event == nullptr ? tpuRtErrorInvalidValue : kNoHandle; }

}  // namespace softtpu::tpuv7

// Refuses a NULL argument by its name.
#define SOFTTPU_RT_NOT_NULL(argument, status) \
  if ((argument) == nullptr) return softtpu::tpuv7::fail(__func__, status, #argument " is NULL")
// The first lines of a function that needs what stands behind an argument: `name` is that, or the function returns.
#define SOFTTPU_RT_DEVICE(name)                               \
  const auto name = softtpu::tpuv7::current_device(__func__); \
  if (name == nullptr) return tpuRtErrorNoDevice
#define SOFTTPU_RT_STREAM(name, stream)                            \
  const auto name = softtpu::tpuv7::find_stream(__func__, stream); \
  if (name == nullptr) return softtpu::tpuv7::kNoHandle
#define SOFTTPU_RT_EVENT(name, event)                            \
  const auto name = softtpu::tpuv7::find_event(__func__, event); \
  if (name == nullptr) return softtpu::tpuv7::status_of(event)
