// The log of every softtpu process: one line per event on standard error. The level comes from SOFTTPU_LOG.
#pragma once

#include <string_view>

namespace softtpu {

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError, kOff };

void set_log_level(LogLevel level);
bool is_logged(LogLevel level);
void log(LogLevel level, std::string_view text);

inline void log_error(std::string_view text) { log(LogLevel::kError, text); }
inline void log_warning(std::string_view text) { log(LogLevel::kWarning, text); }
inline void log_info(std::string_view text) { log(LogLevel::kInfo, text); }
inline void log_debug(std::string_view text) { log(LogLevel::kDebug, text); }

}  // namespace softtpu
