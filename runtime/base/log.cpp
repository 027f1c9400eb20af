#include "runtime/base/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <utility>

#include "runtime/base/config.hpp"
#include "runtime/base/own_number.hpp"
#include "runtime/base/text.hpp"
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

// spdlog's own flag says what getpid() does.
class ProcessFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg&, const std::tm&, spdlog::memory_buf_t& to) override {
    const std::string text = std::to_string(own_process_number());
    to.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<ProcessFlag>(); }
};

// Never destroyed: atexit handlers and late threads still log.
spdlog::logger& logger() {
  static spdlog::logger* const instance = [] {
    const auto settings = read_settings();
    const bool to_file = settings && !settings->log_file.empty();
    spdlog::sink_ptr sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    std::string complaint;
    try {
      if (to_file) sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(settings->log_file);
    } catch (const spdlog::spdlog_ex& failure) {
      complaint = failure.what();
    }
    auto* made = new spdlog::logger("softtpu", std::move(sink));
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<ProcessFlag>('*').set_pattern(to_file ? "%Y-%m-%dT%H:%M:%S.%e softtpu[%*] %l: %v"
                                                              : "softtpu[%*] %l: %v");
    made->set_formatter(std::move(formatter));
    made->flush_on(spdlog::level::trace);
    // A log that cannot be written (a full disk) must not end what it tells about.
    made->set_error_handler([](const std::string&) {});
    if (!complaint.empty()) made->error("SOFTTPU_LOG_FILE: {}", complaint);
    made->set_level(to_spdlog(settings ? settings->log : LogLevel::kWarning));
    return made;
  }();
  return *instance;
}

}  // namespace

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }
bool is_logged(LogLevel level) { return logger().should_log(to_spdlog(level)); }
void log(LogLevel level, std::string_view text) {
  if (is_logged(level)) logger().log(to_spdlog(level), escape_controls(text));
}

}  // namespace softtpu
