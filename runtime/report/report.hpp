// Reports of one run: for people, and as files for tools (JSON, SARIF 2.1.0, JUnit XML). README.md gives the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/report/journal.hpp"

namespace softtpu {

// The exit statuses of `softtpu run` that are not the program's own; they leave out what programs and shells use.
enum class Verdict : std::uint8_t {
  kSuccess = 0,
  kProgramFailed = 1,  // the status is the program's own
  kLaunchFailed = 2,   // and the program has ended well: the status is that of findings, or 0
  kFindings = 120,
  kDeviceCrashed = 121,
  kTimeLimit = 122,
  kUnsupported = 123,
  kInternal = 124,
  kNotStarted = 125,
};
std::string_view to_text(Verdict verdict);

struct RunReport {
  std::vector<std::string> program;  // the command line
  std::string chip, checks;
  int program_status = 0;  // 128 + N for a signal
  JournalContents contents;
  std::string revision = {};  // of the chip, whose results these are; empty where it has one only

  // The most severe of what happened: internal, crash, time limit, unsupported, program failed, launch failed,
  // findings.
  Verdict verdict() const;
  int exit_status() const;
  std::uint64_t occurrences() const;
  bool has_findings() const;  // besides notes
};

// One line for each thing that happened; empty when nothing did.
std::string to_summary(const RunReport& report);

std::string to_json_text(const RunReport& report);
std::string to_sarif_text(const RunReport& report);
std::string to_junit_text(const RunReport& report);

// "json:FILE", "sarif:FILE" or "junit:FILE".
struct ReportFile {
  std::string (*make)(const RunReport&) = nullptr;
  std::string path;
  bool holds_times() const { return make == to_json_text; }
};
Result<ReportFile> parse_report_file(const std::string& text);
Result<void> write(const ReportFile& file, const RunReport& report);

}  // namespace softtpu
