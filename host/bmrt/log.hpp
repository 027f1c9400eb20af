// Messages of libbmrt, through libbmlib's log: one line for each call that fails.
#pragma once

#include <string>

#include "host/client/caught.hpp"
#include "runtime/base/result.hpp"

namespace softtpu::bmrt {

// Logs "function: text" as an error. Always false, so that a refusal is one line where it is found.
bool refuse(const char* function, const std::string& text);
void log_info(const char* function, const std::string& text);

// Messages below this level (a BMRT_LogLevel) are not logged; at first what BMRT_LOG_VERSION says, else all are.
int log_level();
void set_log_level(int least);

}  // namespace softtpu::bmrt
