#include "host/client/log_sink.hpp"

#include <atomic>
#include <cstdio>

#include "bmlib_runtime.h"
#include "runtime/base/config.hpp"

namespace softtpu::host {
namespace {

struct LevelName {
  int level;
  const char* name;
};
constexpr LevelName kLevels[] = {
    {BMLIB_LOG_QUIET, "quiet"},     {BMLIB_LOG_PANIC, "panic"},     {BMLIB_LOG_FATAL, "fatal"},
    {BMLIB_LOG_ERROR, "error"},     {BMLIB_LOG_WARNING, "warning"}, {BMLIB_LOG_INFO, "info"},
    {BMLIB_LOG_VERBOSE, "verbose"}, {BMLIB_LOG_DEBUG, "debug"},     {BMLIB_LOG_TRACE, "trace"},
};

const char* level_name(int level) {
  const char* name = kLevels[0].name;
  for (const LevelName& known : kLevels) {
    if (known.level <= level) name = known.name;
  }
  return name;
}

// A bad setting is reported by the call that opens a device.
int initial_level() {
  const Result<Settings> settings = read_settings();
  return settings ? settings->bmlib_log : BMLIB_LOG_ERROR;
}

std::atomic<int>& current_level() {
  static std::atomic<int> level{initial_level()};
  return level;
}

std::atomic<LogCallback> callback{nullptr};

void write_formatted(const char* tag, int level, const char* format, ...) {
  va_list args;
  va_start(args, format);
  write_log(tag, level, format, args);
  va_end(args);
}

}  // namespace

int log_level() { return current_level().load(std::memory_order_relaxed); }
void set_log_level(int level) { current_level().store(level); }
void set_log_callback(LogCallback function) { callback.store(function); }

void write_log(const char* tag, int level, const char* format, va_list args) {
  if (level > log_level()) return;
  if (const LogCallback function = callback.load()) {
    function(tag, level, format, args);
    return;
  }
  char text[2048];
  const int length = std::vsnprintf(text, sizeof text, format, args);
  const bool ends_line = length > 0 && length < static_cast<int>(sizeof text) && text[length - 1] == '\n';
  std::fprintf(stderr, "[%s][%s] %s%s", tag, level_name(level), text, ends_line ? "" : "\n");
}

void write_log(const char* tag, int level, const std::string& line) {
  write_formatted(tag, level, "%s\n", line.c_str());
}

namespace {

thread_local const char* called = nullptr;

}  // namespace

CalledAs::CalledAs(const char* function) : outermost_(called == nullptr) {
  if (outermost_) called = function;
}
CalledAs::~CalledAs() {
  if (outermost_) called = nullptr;
}
const char* called_function(const char* own) { return called != nullptr ? called : own; }

}  // namespace softtpu::host
