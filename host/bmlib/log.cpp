#include "host/bmlib/log.hpp"

#include <cstdarg>
#include <mutex>
#include <new>
#include <set>
#include <string_view>

#include "host/client/call_stack.hpp"
#include "host/client/device_client.hpp"
#include "host/client/log_sink.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu::host {
namespace {

[[maybe_unused]] const bool left_out = leave_out_of_call_stacks(&left_out);

LastFailure& own_failure() {
  thread_local LastFailure failure;
  return failure;
}

// Without memory the names are cut off, but an earlier failure's text is never left.
void keep_caught(const char* function, const char* text) {
  LastFailure& failure = own_failure();
  failure.status = BM_ERR_NOMEM;
  failure.function.clear();
  failure.text.clear();
  try {
    failure.function = function;
    failure.text = text;
  } catch (const std::bad_alloc&) {
    failure.text = "no memory left";  // fits into the string itself
  }
}
[[maybe_unused]] const bool keeps_caught = (set_caught_observer(keep_caught), true);

}  // namespace

const LastFailure& last_failure() { return own_failure(); }
void set_last_failure(const std::string& function, const std::string& text, bm_status_t status) {
  own_failure() = {function, text, status};
}

bm_status_t fail(const char* function, bm_status_t status, const std::string& text) {
  const std::string shown = escape_controls(text);
  own_failure() = {function, shown, status};
  bmlib_log("bmlib", BMLIB_LOG_ERROR, "%s: %s\n", called_function(function), shown.c_str());
  return status;
}

bm_status_t fail(const char* function, const Error& error, bool of_launch) {
  const auto status = [&] {
    switch (error.kind) {
      case ErrorKind::kUsage: return of_launch ? BM_ERR_FAILURE : BM_ERR_PARAM;
      case ErrorKind::kUnsupported: return BM_NOT_SUPPORTED;
      case ErrorKind::kResource: return BM_ERR_NOMEM;
      case ErrorKind::kConnection: return BM_ERR_DEVNOTREADY;
      case ErrorKind::kTimeout: return BM_ERR_TIMEOUT;
      case ErrorKind::kInternal: return BM_ERR_FAILURE;
    }
    unreachable(error.kind);
  }();
  return fail(function, status, error.text);
}

bm_status_t no_feature(const char* function, const char* reason) {
  static std::mutex mutex;
  static std::set<std::string_view> reported;
  const std::lock_guard lock(mutex);
  if (reported.insert(function).second)
    fail(function, BM_ERR_NOFEATURE, std::string("the emulator has no such feature: ") + reason);
  return BM_ERR_NOFEATURE;
}

bm_status_t not_supported(const char* function, const std::string& reason) {
  return fail(function, BM_NOT_SUPPORTED, reason);
}

void log_verbose(const char* function, const std::string& text) {
  bmlib_log("bmlib", BMLIB_LOG_VERBOSE, "%s: %s\n", function, text.c_str());
}

bm_status_t end_copy(const char* function, DeviceClient& device, const Result<void>& result) {
  if (!result && result.error().kind == ErrorKind::kUsage) {
    device.note_refused_copy(std::string(function) + ": " + result.error().text);
  }
  return to_status(function, result);
}

bm_status_t to_status(const char* function, const Result<void>& result, bool of_launch) {
  return result ? BM_SUCCESS : fail(function, result.error(), of_launch);
}

}  // namespace softtpu::host

extern "C" {

void bmlib_log(const char* tag, int level, const char* fmt, ...) try {
  if (fmt == nullptr) return;
  va_list args;
  va_start(args, fmt);
  softtpu::host::write_log(tag == nullptr ? "bmlib" : tag, level, fmt, args);
  va_end(args);
} catch (...) {
  softtpu::caught(__func__);
}

int bmlib_log_get_level(void) try { return softtpu::host::log_level(); } catch (...) {
  return softtpu::caught(__func__);
}
void bmlib_log_set_level(int level) try { softtpu::host::set_log_level(level); } catch (...) {
  softtpu::caught(__func__);
}
void bmlib_log_set_callback(void (*function)(const char*, int, const char*, va_list)) try {
  softtpu::host::set_log_callback(function);
} catch (...) {
  softtpu::caught(__func__);
}

}  // extern "C"
