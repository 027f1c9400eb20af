// softtpu run: sets the environment that its options stand for, runs the program, reports what its device noted.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/chip/names.hpp"
#include "device/server/startup/check_settings.hpp"
#include "device/server/startup/setting_options.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/report/report.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/gdb_session.hpp"
#include "tools/softtpu/outputs.hpp"
#include "tools/softtpu/program.hpp"
#include "tools/softtpu/run.hpp"

namespace softtpu::cli {
namespace {

// How long the device may take to end after the program.
constexpr int kDeviceEndMs = 10000;

// A program that was built against the SDK finds this softtpu's libraries without a run path of its own.
void add_library_path() {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return;
  std::string path;
  for (const char* folder : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    const auto place = self.parent_path().parent_path() / folder;
    if (!std::filesystem::exists(place / "libbmlib.so", failed)) continue;
    path += place.string() + ":";
    // Behind it: programs of the OKKernel tree ask for libbmlib_okkernel.so, all others for libbmlib.so.
    if (std::filesystem::exists(place / "okkernel", failed)) path += (place / "okkernel").string() + ":";
  }
  const char* old = std::getenv("LD_LIBRARY_PATH");
  path += old != nullptr ? old : "";
  if (!path.empty() && path.back() == ':') path.pop_back();
  if (!path.empty()) ::setenv("LD_LIBRARY_PATH", path.c_str(), 1);
}

// A file without a name in the file system, so that nothing is left whatever becomes of this process.
struct UnnamedFile {
  UniqueFd file;
  std::string path;  // for processes of this user, while this one lives
};
Result<UnnamedFile> make_unnamed(const char* what) {
  UnnamedFile made{UniqueFd(::memfd_create(fmt::format("softtpu-{}", what).c_str(), MFD_CLOEXEC)), {}};
  if (!made.file) return Error{ErrorKind::kResource, fmt::format("{}: {}", what, std::strerror(errno))};
  made.path = fmt::format("/proc/{}/fd/{}", ::getpid(), made.file.get());
  return made;
}

// Where times are wanted as text, a JSON report has them too, which takes a record. Devices that the program itself has
// asked for times note theirs in the journal where there is no record.
Result<UnnamedFile> make_record_for_reports(const std::vector<ReportFile>& files, Settings& settings) {
  const bool wanted = std::any_of(files.begin(), files.end(), [](const ReportFile& f) { return f.holds_times(); });
  const bool estimated = !settings.time.empty() || !settings.timeline_path.empty();
  if (!wanted || !estimated || !settings.time_record_path.empty()) return UnnamedFile{};
  auto record = make_unnamed("times");
  if (!record) return record;
  settings.time_record_path = record->path;
  ::setenv("SOFTTPU_TIME_RECORD", record->path.c_str(), 1);
  return record;
}

// The totals of what stands in the record of times.
void add_times(const std::string& path, std::vector<std::string>& times) {
  std::error_code failed;
  if (path.empty() || !std::filesystem::is_regular_file(path, failed)) return;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (std::string totals = time_totals(line); !totals.empty()) times.push_back(std::move(totals));
  }
}

int not_started(const std::string& text) {
  fail(text.c_str());
  return static_cast<int>(Verdict::kNotStarted);
}

void print_text(const RunReport& report) {
  const bool colour = ::isatty(STDERR_FILENO) == 1;
  for (const ReportedFinding& found : report.contents.found) std::fputs(to_text(found, colour).c_str(), stderr);
  std::fputs(to_summary(report).c_str(), stderr);
}

// What the options and the environment make together.
Result<Settings> effective_settings(const RunOptions& options) {
  add_library_path();
  auto settings = read_settings();
  if (!settings || shared_device_name(*settings).empty()) return settings;
  for (const GivenSetting& given : *options.settings) {
    if (!given.of_device) continue;
    return Error{
        ErrorKind::kUsage,
        fmt::format(
            "{} sets up a private device, and SOFTTPU_DEVICE is {}; a shared one gets it from \"softtpu serve\".",
            given.option, shared_device_name(*settings))};
  }
  if (options.gdb || !options.gdb_commands.empty()) {
    return Error{ErrorKind::kUsage,
                 "--gdb stops kernels of a private device; attach gdb itself to a core of a shared one."};
  }
  if (!settings->checks.empty()) {
    return Error{ErrorKind::kUsage,
                 "SOFTTPU_CHECK watches a private device; for a shared one set it for \"softtpu serve\"."};
  }
  if (!settings->record_path.empty()) {
    return Error{ErrorKind::kUsage,
                 "SOFTTPU_RECORD keeps a launch of a private device; for a shared one set it for \"softtpu serve\"."};
  }
  return settings;
}

// A record that was asked for must not be missing without a word. What is not a file is not judged.
bool is_recorded(const Settings& settings) {
  std::error_code failed;
  if (settings.record_path.empty() || std::filesystem::file_size(settings.record_path, failed) > 0) return true;
  std::filesystem::remove(settings.record_path, failed);
  fail(fmt::format("--record: nothing was kept: the program made no launch {} that can be kept (SOFTTPU_RECORD_LAUNCH)",
                   settings.record_launch)
           .c_str());
  return false;
}

}  // namespace

int run_with_options(const RunOptions& options) {
  std::vector<ReportFile> files;
  for (const std::string& text : options.reports) {
    auto file = parse_report_file(text);
    if (!file) return not_started(file.error().text);
    files.push_back(*std::move(file));
  }
  // A bad value is reported here, before the program starts.
  auto settings = effective_settings(options);
  if (!settings) return not_started(settings.error().text);
  std::unique_ptr<GdbSession> debugger;
  if (options.gdb || !options.gdb_commands.empty()) {
    auto session = GdbSession::create(options.gdb_commands);
    if (!session) return not_started(session.error().text);
    debugger = *std::move(session);
  }
  for (const ReportFile& file : files) {
    if (auto writable = check_writable("--report", file.path); !writable) return not_started(writable.error().text);
  }
  if (shared_device_name(*settings).empty()) {
    if (auto good = check_device_settings(*settings); !good) return not_started(good.error().text);
    if (auto prepared = prepare_outputs(*settings); !prepared) return not_started(prepared.error().text);
  }
  if (!settings->log_file.empty()) {
    if (auto writable = check_writable("SOFTTPU_LOG_FILE", settings->log_file); !writable)
      return not_started(writable.error().text);
  }
  const auto record = make_record_for_reports(files, *settings);
  if (!record) return not_started(record.error().text);
  const auto journal = make_unnamed("journal");
  if (!journal) return not_started(journal.error().text);
  ::setenv("SOFTTPU_JOURNAL", journal->path.c_str(), 1);
  const auto status = run_program(options.program, debugger ? debugger->meanwhile() : Meanwhile{});
  RunReport report{options.program, canonical_chip_name(settings->chip), settings->checks, status ? *status : 0, {}};
  if (const auto chip = load_chip(settings->chip)) report.revision = chip->revision;
  auto contents = read_journal(journal->path, kDeviceEndMs);
  if (!status) return not_started(status.error().text);
  if (contents) report.contents = *std::move(contents);
  report.contents.keep_most_severe(settings->max_findings);
  const auto has_times = [](const ReportFile& file) { return file.holds_times(); };
  if (std::any_of(files.begin(), files.end(), has_times)) add_times(settings->time_record_path, report.contents.times);
  print_text(report);
  for (const ReportFile& file : files) {
    if (auto written = write(file, report); !written) return not_started(written.error().text);
  }
  const bool recorded = is_recorded(*settings);
  return recorded || report.exit_status() != 0 ? report.exit_status() : static_cast<int>(Verdict::kNotStarted);
}

const char* const kGraveStatuses =
    "  120  the program succeeded, but there are findings (notes do not count)\n"
    "  121  a kernel crashed or ended its core\n"
    "  122  a kernel passed the time limit\n"
    "  123  a kernel called a function that the chip does not have\n"
    "  124  internal error of softtpu\n";

void add_run_options(CLI::App& app, RunOptions& options, SettingUser user) {
  options.settings = add_setting_options(app, user);
  app.add_option("--report", options.reports, "json:FILE, sarif:FILE or junit:FILE; may be repeated")
      ->allow_extra_args(false);
  app.add_flag("--gdb", options.gdb, "stops at the first line of the kernel, in gdb; the program itself runs freely");
  app.add_option("--gdb-commands", options.gdb_commands,
                 "like --gdb, but gdb executes this file at that line, and ends; needs no terminal");
}

Run add_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  add_run_options(app, *options, SettingUser::kProgram);
  app.footer(
      std::string("Begin with: softtpu run --check=all --time -- python3 add.py\n\n"
                  "Exit status: the program's own (128 + N for signal N), unless something else happened:\n") +
      kGraveStatuses +
      "  125  the program was not started (it cannot be, or an option has a bad value or names a file that cannot be\n"
      "       written), a report could not be written, or --record has found nothing to keep\n"
      "With a shared device (--device), 120 means findings of this program. A failed launch does not change the\n"
      "status; the program itself decides.");
  app.add_option("program", options->program, "the program and its arguments, after --")->required();
  return [options] { return run_with_options(*options); };
}

}  // namespace softtpu::cli
