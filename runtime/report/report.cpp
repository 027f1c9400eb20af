#include "runtime/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "runtime/base/json_tree.hpp"
#include "runtime/base/unreachable.hpp"
#include "runtime/report/fault_location.hpp"
#include "runtime/report/rules.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

constexpr int kJsonVersion = 4;

bool has_failure(const RunReport& report, FailureKind kind) {
  const auto& failures = report.contents.failures;
  return std::any_of(failures.begin(), failures.end(), [&](const FailureRecord& f) { return f.kind == kind; });
}

bool lacks_lines(const JournalContents& contents) {
  return std::any_of(contents.found.begin(), contents.found.end(), [](const ReportedFinding& found) {
    return std::any_of(found.parties.begin(), found.parties.end(),
                       [](const ReportedParty& p) { return p.at.lacks_line(); });
  });
}

bool counts(const ReportedFinding& found) { return rule(found.rule).severity != Severity::kNote; }

// What went wrong, without the details: these were printed when it happened, and stand in the reports. Equal ones once.
std::vector<std::pair<std::string, std::uint64_t>> failure_lines(const std::vector<FailureRecord>& failures) {
  std::vector<std::pair<std::string, std::uint64_t>> lines;
  std::map<std::string, std::size_t> places;
  for (const FailureRecord& failure : failures) {
    std::string line = fmt::format("{}: {}", to_text(failure.kind), failure.text.substr(0, failure.text.find('\n')));
    const auto [place, is_new] = places.emplace(line, lines.size());
    if (is_new) lines.emplace_back(std::move(line), 0);
    ++lines[place->second].second;
  }
  return lines;
}

// Why a failure of this kind matters on the chip, and what removes it.
struct Advice {
  FailureKind kind;
  const char* why;
  const char* fix;
};
constexpr Advice kAdvice[] = {
    {FailureKind::kUsage, "The chip would compute something else, or hang: the call breaks a rule of its function.",
     "Change the argument that the text names; `softtpu api FUNCTION` shows the function's limits."},
    {FailureKind::kCrash, "The kernel's processor stops: on the chip the core has to be reset.",
     "Look at the line that the text names; `softtpu run --gdb` stops there."},
    {FailureKind::kTimeout, "The kernel issued no command, or did not end, within its limit: on the chip it hangs.",
     "Look for a loop or a wait that does not end; SOFTTPU_TIMEOUT and SOFTTPU_LAUNCH_LIMIT change the limits."},
    {FailureKind::kUnsupported, "The chip does not have this function, so the kernel cannot run there.",
     "Use another function; `softtpu api --chip CHIP --search TEXT` finds those that the chip has."},
    {FailureKind::kResource, "Memory, files or processes of this machine ran out.",
     "The text says which, and how much."},
    {FailureKind::kInternal, "softtpu itself failed; the program may be right.",
     "Report it, with the file that `softtpu run --record FILE` writes."},
};

Json to_json(const FailureRecord& failure) {
  JsonTree json;
  json["kind"] = to_text(failure.kind);
  json["kernel"] = failure.kernel;
  json["text"] = failure.text;
  if (const auto place = parse_fault_location(failure.text)) {
    json["core"] = place->core;
    if (place->command) json["command"] = *place->command;
    if (!place->file.empty()) {
      json["file"] = place->file;
      json["line"] = place->line;
    }
  }
  for (const Advice& advice : kAdvice) {
    if (advice.kind != failure.kind) continue;
    json["why"] = advice.why;
    json["fix"] = advice.fix;
  }
  return json.take();
}

// Formats by the word before the colon.
constexpr std::array<std::pair<std::string_view, std::string (*)(const RunReport&)>, 3> kFormats = {
    {{"json", to_json_text}, {"sarif", to_sarif_text}, {"junit", to_junit_text}}};

}  // namespace

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSuccess: return "success";
    case Verdict::kProgramFailed: return "program failed";
    case Verdict::kLaunchFailed: return "launch failed";
    case Verdict::kFindings: return "findings";
    case Verdict::kDeviceCrashed: return "device crashed";
    case Verdict::kTimeLimit: return "time limit";
    case Verdict::kUnsupported: return "unsupported call";
    case Verdict::kInternal: return "internal error";
    case Verdict::kNotStarted: return "not started";
  }
  unreachable(verdict);
}

Verdict RunReport::verdict() const {
  if (has_failure(*this, FailureKind::kInternal)) return Verdict::kInternal;
  if (has_failure(*this, FailureKind::kCrash)) return Verdict::kDeviceCrashed;
  if (has_failure(*this, FailureKind::kTimeout)) return Verdict::kTimeLimit;
  if (has_failure(*this, FailureKind::kUnsupported)) return Verdict::kUnsupported;
  if (program_status != 0) return Verdict::kProgramFailed;
  if (!contents.failures.empty()) return Verdict::kLaunchFailed;
  return has_findings() ? Verdict::kFindings : Verdict::kSuccess;
}

bool RunReport::has_findings() const {
  const bool left_out = contents.left_out.total() > contents.left_out.of(Severity::kNote);
  return left_out || std::any_of(contents.found.begin(), contents.found.end(), counts);
}

// A program that goes on after a failed launch has its own status.
int RunReport::exit_status() const {
  const Verdict what = verdict();
  if (what == Verdict::kLaunchFailed) return has_findings() ? static_cast<int>(Verdict::kFindings) : 0;
  return what == Verdict::kProgramFailed ? program_status : static_cast<int>(what);
}

std::uint64_t RunReport::occurrences() const {
  std::uint64_t sum = 0;
  for (const ReportedFinding& found : contents.found) sum += found.count;
  return sum;
}

std::string to_summary(const RunReport& report) {
  std::string text;
  for (const auto& [line, count] : failure_lines(report.contents.failures)) {
    text += fmt::format("softtpu: {}{}\n", line, count > 1 ? fmt::format(" ({} times)", count) : "");
  }
  if (report.verdict() == Verdict::kLaunchFailed) {
    const std::size_t failed = report.contents.failures.size();
    text += fmt::format("softtpu: {} launch{} (or loading) failed, and the program went on\n", failed,
                        failed == 1 ? "" : "es");
  }
  if (!report.contents.found.empty()) {
    text += fmt::format("softtpu: {} finding{}, {} occurrence{}\n", report.contents.found.size(),
                        report.contents.found.size() == 1 ? "" : "s", report.occurrences(),
                        report.occurrences() == 1 ? "" : "s");
  }
  if (const LeftOut& left_out = report.contents.left_out; left_out.total() > 0) {
    text += fmt::format("softtpu: {} less severe or later finding{} left out (--max-findings): {}\n", left_out.total(),
                        left_out.total() == 1 ? " is" : "s are", to_text(left_out));
  }
  if (lacks_lines(report.contents)) text += fmt::format("softtpu: {}\n", kNoLines);
  for (const AllowedRecord& allowed : report.contents.allowed) {
    text += fmt::format("softtpu: {}{} was allowed {} time{}\n", allowed.rule, in_kernel_text(allowed.kernel),
                        allowed.count, allowed.count == 1 ? "" : "s");
  }
  return text;
}

std::string to_json_text(const RunReport& report) {
  JsonTree json;
  json["format"] = "softtpu-findings";
  json["version"] = kJsonVersion;
  json["program"] = report.program;
  json["chip"] = report.chip;
  json["revision"] = report.revision;
  json["checks"] = report.checks;
  json["program_status"] = report.program_status;
  json["verdict"] = to_text(report.verdict());
  json["exit_status"] = report.exit_status();
  json["occurrences"] = report.occurrences();
  json["left_out"] = Json::object();
  for (const char* list : {"findings", "allowed", "failures", "times"}) json[list] = Json::array();
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kNote}) {
    json["left_out"][std::string(to_text(severity))] = report.contents.left_out.of(severity);
  }
  for (const ReportedFinding& found : report.contents.found) {
    Json& place = json["findings"].emplace_back();
    place = to_json(found);
  }
  for (const AllowedRecord& allowed : report.contents.allowed) {
    Json& place = json["allowed"].emplace_back();
    place = Json::object();
    place["rule"] = allowed.rule;
    place["kernel"] = allowed.kernel;
    place["count"] = allowed.count;
  }
  for (const FailureRecord& failure : report.contents.failures) {
    Json& place = json["failures"].emplace_back();
    place = to_json(failure);
  }
  for (const std::string& time : report.contents.times) {
    Json& place = json["times"].emplace_back();
    place = JsonTree::parse(time).take();
  }
  return (*json).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ReportFile> parse_report_file(const std::string& text) {
  const std::size_t colon = text.find(':');
  std::string allowed;
  for (const auto& [name, make] : kFormats) {
    if (colon == name.size() && text.starts_with(name) && colon + 1 < text.size()) {
      return ReportFile{make, text.substr(colon + 1)};
    }
    allowed += fmt::format("{}{}:FILE", allowed.empty() ? "" : ", ", name);
  }
  return Error{ErrorKind::kUsage, fmt::format("--report: \"{}\" is not one of {}.", text, allowed)};
}

Result<void> write(const ReportFile& file, const RunReport& report) {
  std::ofstream out(file.path, std::ios::binary);
  out << file.make(report);
  out.close();
  if (out) return {};
  return Error{ErrorKind::kResource,
               fmt::format("--report: \"{}\" cannot be written: {}", file.path, std::strerror(errno))};
}

}  // namespace softtpu
