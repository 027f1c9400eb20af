// The log of libbmlib: one line per message, to stderr or to the program's callback, as bmlib_log_set_level() says.
#pragma once

#include <string>

#include "bmlib_runtime.h"
#include "host/client/caught.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {
class DeviceClient;
}

namespace softtpu::host {

// Logs "function: text" as an error and returns the status, so that a refusal is one line where it is found.
bm_status_t fail(const char* function, bm_status_t status, const std::string& text);
// What this thread's last fail() has said.
struct LastFailure {
  std::string function, text;
  bm_status_t status = BM_SUCCESS;
};
const LastFailure& last_failure();
void set_last_failure(const std::string& function, const std::string& text, bm_status_t status);

// The same for an error of the device; `of_launch` tells a kernel's own failure from a refused argument
// (host/README.md).
bm_status_t fail(const char* function, const Error& error, bool of_launch = false);

// BM_ERR_NOFEATURE; says once for each function why the emulator does not have it.
bm_status_t no_feature(const char* function, const char* reason);
// BM_NOT_SUPPORTED, with the reason every time.
bm_status_t not_supported(const char* function, const std::string& reason);

void log_verbose(const char* function, const std::string& text);

// The outcome of a copy: as to_status(). A refused one is passed on to the device's checks.
bm_status_t end_copy(const char* function, DeviceClient& device, const Result<void>& result);

// BM_SUCCESS, or the error logged and turned into a status.
bm_status_t to_status(const char* function, const Result<void>& result, bool of_launch = false);

}  // namespace softtpu::host
