#include "host/tpuv7/support.hpp"

#include <fmt/format.h>

#include <mutex>
#include <set>
#include <string_view>

#include "bmlib_runtime.h"
#include "host/client/call_stack.hpp"
#include "host/client/log_sink.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu::tpuv7 {
namespace {

[[maybe_unused]] const bool left_out = host::leave_out_of_call_stacks(&left_out);

}  // namespace

tpuRtStatus_t fail(const char* function, tpuRtStatus_t status, const std::string& text) {
  host::write_log("tpurt", BMLIB_LOG_ERROR, fmt::format("{}: {}", host::called_function(function), text));
  return status;
}

tpuRtStatus_t fail(const char* function, const Error& error, bool of_launch) {
  const auto status = [&] {
    switch (error.kind) {
      case ErrorKind::kUsage: return of_launch ? tpuRtErrFailure : tpuRtErrParam;
      case ErrorKind::kUnsupported: return tpuRtErrNotSupported;
      case ErrorKind::kResource: return tpuRtErrNomem;
      case ErrorKind::kConnection: return tpuRtDevnotready;
      case ErrorKind::kTimeout: return tpuRtErrTimeout;
      case ErrorKind::kInternal: return tpuRtErrFailure;
    }
    unreachable(error.kind);
  }();
  return fail(function, status, error.text);
}

tpuRtStatus_t to_status(const char* function, const Result<void>& result, bool of_launch) {
  return result ? tpuRtSuccess : fail(function, result.error(), of_launch);
}

tpuRtStatus_t no_feature(const char* function, const char* reason) {
  static std::mutex mutex;
  static auto& reported = *new std::set<std::string_view>;
  const std::lock_guard lock(mutex);
  if (reported.insert(function).second)
    fail(function, tpuRtErrNoFeature, std::string("the emulator has no such feature: ") + reason);
  return tpuRtErrNoFeature;
}

std::shared_ptr<host::Stream> find_stream(const char* function, tpuRtStream_t stream) {
  return find(function, host::stream_table(), stream, "stream");
}

std::shared_ptr<host::Event> find_event(const char* function, tpuRtEvent_t event) {
  return find(function, host::event_table(), event, "event");
}

}  // namespace softtpu::tpuv7
