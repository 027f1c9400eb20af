// softtpu golden: replays recorded cases through the real path (host library, server, core process, kernel module), and
// recorded instructions on a core in this process.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "tools/golden/bmlib_target.hpp"
#include "tools/golden/instructions.hpp"
#include "tools/golden/session.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/outputs.hpp"
#include "tools/softtpu/python.hpp"

namespace softtpu::cli {
namespace {

struct GoldenOptions {
  golden::SessionOptions session;
  std::string cases;    // folder of the recorded cases behind recorded instructions; empty: beside them
  std::string ledger;   // write the counts per function to this JSON file
  std::string kernel;   // path of the replay kernel's module; empty: beside this program
  std::string cluster;  // address of a Dask scheduler, whose workers replay; empty: this program does
  std::string results;  // file that keeps what a cluster has replayed
};

constexpr const char* kKernelFile = "softtpu_golden_kernel.so";

// The module lies beside the libraries, in the build tree and in an installed one.
std::string find_kernel() {
  std::error_code failed;  // without /proc the loader looks for it
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", failed).parent_path().parent_path();
  for (const char* place : {"lib/softtpu", "lib"}) {
    const auto path = folder / place / kKernelFile;
    if (std::filesystem::exists(path, failed)) return path.string();
  }
  return kKernelFile;
}

// Python has the clients of clusters; there is none here. Returns only when it cannot be started.
int run_on_cluster(const GoldenOptions& options) {
  std::vector<std::string> words = {"softtpu.golden", "--cluster", options.cluster};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--results", options.results);
  add("--ledger", options.ledger);
  add("--filter", options.session.filter);
  add("--function", options.session.function);
  add("--failures", std::to_string(options.session.shown_failures));
  if (options.session.details) words.emplace_back("--verbose");
  if (options.session.list_skipped) words.emplace_back("--skipped");
  words.emplace_back("--");
  words.insert(words.end(), options.session.paths.begin(), options.session.paths.end());
  return fail(become_python("--cluster", words));
}

int run_calls(const GoldenOptions& options) {
  const std::string kernel = options.kernel.empty() ? find_kernel() : options.kernel;
  if (!options.ledger.empty()) {
    if (auto writable = check_writable("--ledger", options.ledger); !writable) {
      fail(writable.error());
      return kNotWritten;
    }
  }
  const auto result = golden::run_session(
      options.session, [&](const std::string& chip) { return golden::make_bmlib_target(chip, kernel); });
  if (!options.ledger.empty() && !golden::write_ledger(options.ledger, result)) return kNotWritten;
  return result.total.failed == 0 ? 0 : 1;
}

int run_golden(const GoldenOptions& options) {
  if (!options.cluster.empty()) return run_on_cluster(options);
  // Files of instructions go another way than files of calls.
  int passed_over = 0;
  const auto files = golden::find_families(options.session.paths, &passed_over);
  if (passed_over > 0) fmt::print("{} files of other JSON passed over\n", passed_over);
  GoldenOptions calls = options;
  golden::InstructionOptions instructions;
  if (files) {
    calls.session.paths.clear();
    for (const std::string& file : *files) {
      if (golden::holds_instructions(file))
        instructions.files.push_back(file);
      else
        calls.session.paths.push_back(file);
    }
  }
  int status = 0;
  if (!instructions.files.empty()) {
    instructions.cases = options.cases;
    instructions.filter = options.session.filter;
    instructions.shown_failures = options.session.shown_failures;
    instructions.list_known = options.session.list_skipped;
    if (golden::run_instructions(instructions).total.failed != 0) status = 1;
    if (calls.session.paths.empty()) return status;
  }
  const int of_calls = run_calls(calls);
  return of_calls != 0 ? of_calls : status;
}

}  // namespace

Run add_golden(CLI::App& app) {
  auto options = std::make_shared<GoldenOptions>();
  app.add_option("path", options->session.paths,
                 "family files (*.json) of calls or of instructions of compiled networks, or folders of them")
      ->required();
  app.add_option("--cases", options->cases,
                 "folder of the recorded calls behind recorded instructions (default: golden/CHIP beside them)");
  app.add_option("--chip", options->session.chip,
                 "chip or chip file to run on (default: the chip and revision that each file was recorded with)");
  app.add_option("-f,--filter", options->session.filter, "only cases whose id contains this text");
  app.add_option("--function", options->session.function, "only cases that call this function");
  app.add_option("--failures", options->session.shown_failures, "failures shown for each function");
  app.add_flag("-v,--verbose", options->session.details,
               "all of a failure: elements with coordinates, expected and got");
  app.add_flag("--skipped", options->session.list_skipped, "list what is skipped");
  app.add_option("--ledger", options->ledger, "write the counts for each function to this file (JSON)");
  auto* kernel = app.add_option("--kernel", options->kernel, "the replay kernel's module");
  auto* cluster =
      app.add_option("--cluster", options->cluster,
                     "replays on the workers of a Dask cluster: the scheduler's address, or local (Python)");
  cluster->excludes(kernel);
  app.add_option("--results", options->results, "SQLite file that keeps what the cluster has replayed")->needs(cluster);
  app.footer(
      "Instructions that are refused, or known to differ, are counted separately; --skipped lists them with the\n"
      "reason. An instruction fails if it is refused or differs without being in that list, or no longer does what\n"
      "the list says.\n\n"
      "Exit status: 0 when every case passes; 1 when one fails; 2 when an option is not usable; 3 when the ledger\n"
      "cannot be written.");
  return [options] { return run_golden(*options); };
}

}  // namespace softtpu::cli
