// softtpu report: runs a program with estimated times and checks, or takes the files of an earlier run, and writes one
// HTML page.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/report/report.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/outputs.hpp"
#include "tools/softtpu/program.hpp"
#include "tools/softtpu/report_page.hpp"

namespace softtpu::cli {
namespace {

struct ReportOptions {
  std::string output = "softtpu-report.html";
  std::string times, findings, chip;
  std::string checks = "all";
  bool no_checks = false;
  std::vector<std::string> program;
};

// A folder of this run alone, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code failed;
    path_ = (std::filesystem::temp_directory_path(failed) / "softtpu-report-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code failed;
    if (!path_.empty()) std::filesystem::remove_all(path_, failed);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::optional<std::string> find_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// A number that no program is likely to end with: `report` passes on its program's.
int complain(const std::string& text) {
  fail(("report: " + text).c_str());
  return static_cast<int>(Verdict::kNotStarted);
}

// `softtpu run` does the work, so that every option has one meaning.
Result<int> run_watched(const ReportOptions& options, const std::string& times, const std::string& findings) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return Error{ErrorKind::kResource, "/proc/self/exe cannot be read"};
  std::vector<std::string> command = {self.string(), "run", "--time-record", times};
  if (!options.chip.empty()) command.insert(command.end(), {"--chip", options.chip});
  if (!options.no_checks) command.insert(command.end(), {"--check", options.checks});
  command.insert(command.end(), {"--report", "json:" + findings});  // what failed stands there as well
  command.push_back("--");
  command.insert(command.end(), options.program.begin(), options.program.end());
  return run_program(command);
}

int write_page(const ReportOptions& options, const ReportInput& input) {
  const auto page = make_page(input);
  if (!page) return complain(page.error().text);
  std::ofstream file(options.output, std::ios::binary);
  file << *page;
  file.close();
  if (!file) return complain(fmt::format("-o: \"{}\" cannot be written: {}", options.output, std::strerror(errno)));
  const std::size_t count = input.launches.size();
  print_escaped("softtpu: {} launch{} in {}\n", count, count == 1 ? "" : "es", options.output);
  return 0;
}

// Both files of an earlier run.
int from_files(const ReportOptions& options) {
  ReportInput input;
  const auto times = find_text(options.times);
  if (!times) return complain(fmt::format("\"{}\" cannot be read", options.times));
  input.program = options.times;
  input.launches = lines_of(*times);
  if (!options.findings.empty()) {
    const auto findings = find_text(options.findings);
    if (!findings) return complain(fmt::format("\"{}\" cannot be read", options.findings));
    input.findings = *findings;
  }
  return write_page(options, input);
}

int from_program(const ReportOptions& options) {
  const ScratchFolder folder;
  if (folder.path().empty()) return complain("no folder for temporary files");
  const std::string times = folder.path() + "/times.jsonl";
  const std::string findings = folder.path() + "/findings.json";
  const auto status = run_watched(options, times, findings);
  if (!status) return complain(status.error().text);
  const auto text = find_text(times);
  if (!text)
    return *status != 0 ? *status
                        : complain(
                              "the program launched no kernel on a device of its own, so there are no times (the "
                              "device that `softtpu serve` "
                              "shares keeps its own)");
  ReportInput input;
  for (const std::string& word : options.program) input.program += (input.program.empty() ? "" : " ") + word;
  input.launches = lines_of(*text);
  input.findings = find_text(findings).value_or("");
  const int written = write_page(options, input);
  return written != 0 ? written : *status;
}

int run(const ReportOptions& options) {
  if (options.program.empty() == options.times.empty()) {
    return complain("either a program after --, or --times FILE of an earlier run");
  }
  if (!options.findings.empty() && options.times.empty()) return complain("--findings goes with --times");
  if (auto writable = check_writable("-o", options.output); !writable) return complain(writable.error().text);
  return options.program.empty() ? from_files(options) : from_program(options);
}

}  // namespace

Run add_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("-o,--output", options->output, "the page")->capture_default_str();
  app.add_option("--chip", options->chip, "sets SOFTTPU_CHIP for the program");
  app.add_option("--check", options->checks, "the checks whose findings the page lists")->capture_default_str();
  app.add_flag("--no-check", options->no_checks, "runs no checks");
  app.add_option("--times", options->times, "instead of a program: what `softtpu run --time-record FILE` wrote");
  app.add_option("--findings", options->findings, "with --times: what `softtpu run --report json:FILE` wrote");
  app.add_option("program", options->program, "the program and its arguments, after --");
  app.footer(
      "Exit status: that of `softtpu run` with the same program (120 to 124 among them); 125 when an option is not "
      "usable,\n"
      "the program could not be started or no page could be written. Without a program: 0 or 125.");
  return [options] { return run(*options); };
}

}  // namespace softtpu::cli
