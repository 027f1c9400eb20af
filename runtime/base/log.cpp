#include "runtime/base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "runtime/base/config.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return spdlog::level::trace;
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  unreachable(level);
}

// Never destroyed: atexit handlers and late threads still log.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    auto* made = new spdlog::logger("softtpu", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("softtpu[%P] %l: %v");
    const auto settings = read_settings();
    made->set_level(to_spdlog(settings ? settings->log : LogLevel::kWarning));
    return made;
  }();
  return *instance;
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }
bool is_logged(LogLevel level) { return logger().should_log(to_spdlog(level)); }
void log(LogLevel level, std::string_view text) { logger().log(to_spdlog(level), text); }

}  // namespace softtpu
