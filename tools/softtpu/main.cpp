// softtpu: the launcher. Each subcommand is a row of the table below and a file of this folder.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/report/report.hpp"
#include "tools/softtpu/command.hpp"
#include "tools/softtpu/version.hpp"

namespace softtpu::cli {
namespace {

struct Row {
  const char* name;
  const char* help;
  Run (*add)(CLI::App& app);
  int usage_status = kUsageError;
};

constexpr int kNotStarted = static_cast<int>(Verdict::kNotStarted);

constexpr Row kCommands[] = {
    {"serve", "Serve devices to all programs of this user on a Unix socket", add_serve},
    {"run", "Run a program with a device set up by options", add_run, kNotStarted},
    {"replay", "Repeat a launch that `softtpu run --record` has kept, and compare the results", add_replay,
     kNotStarted},
    {"report", "Run a program with estimated times and checks, and write an HTML page about it", add_report,
     kNotStarted},
    {"bmodel", "Show, run and compare compiled networks (.bmodel)", add_bmodel},
    {"try", "Run a kernel on every chip and shape of a case, and say what came of it (Python)", add_try},
    {"info", "Show the chips, and the state of a shared device", add_info},
    {"rules", "List the rules of the checks", add_rules},
    {"env", "List every environment variable with its value", add_env},
    {"sdk", "Write the folder tree of a vendor's SDK, for projects that expect it", add_sdk},
    {"dump", "Show a region or tensor of a device's memories, or write it as a NumPy file", add_dump},
    {"layout", "Draw where a tensor's elements lie, as text and SVG", add_layout},
    {"api", "Explain a function, search functions, list how each was verified", add_api},
    {"golden", "Replay recorded cases through host library, device and kernel", add_golden},
};

// What is wrong with the command line, in one line, and where the right options stand.
int refuse(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string command;
  int status = kUsageError;
  for (const Row& row : kCommands) {
    if (!app.got_subcommand(row.name)) continue;
    command = std::string(row.name) + ": ";
    status = row.usage_status;
  }
  const std::string place = command.empty() ? "softtpu" : "softtpu " + command.substr(0, command.size() - 2);
  std::fprintf(stderr, "softtpu: %s%s (%s --help lists what there is)\n", command.c_str(),
               escape_controls(error.what()).c_str(), place.c_str());
  return status;
}

// CLI11 takes "-1" for the largest number of an unsigned option, and a number that is too large for the largest there
// is.
void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_unsigned = type.starts_with("UINT");
    if (!is_unsigned && !type.starts_with("INT")) continue;
    option->check([is_unsigned](const std::string& text) -> std::string {
      const std::size_t first = text.find_first_not_of(" \t");
      if (is_unsigned && first != std::string::npos && text[first] == '-') return text + " is below 0";
      errno = 0;
      static_cast<void>(is_unsigned ? std::strtoull(text.c_str(), nullptr, 0)
                                    : static_cast<unsigned long long>(std::strtoll(text.c_str(), nullptr, 0)));
      return errno == ERANGE ? text + " is too large a number" : "";
    });
  }
  for (CLI::App* part : app.get_subcommands({})) check_numbers(*part);
}

}  // namespace

int fail(const char* text) {
  std::fprintf(stderr, "softtpu: %s\n", escape_controls(text).c_str());
  return kFailed;
}

int fail(const Error& error) {
  fail(error.text.c_str());
  return error.kind == ErrorKind::kUsage ? kUsageError : kFailed;
}

void print_json(const nlohmann::json& json) {
  const std::string text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace softtpu::cli

int main(int argc, char** argv) {
  using namespace softtpu::cli;
  CLI::App app("softtpu: an emulator of SOPHGO's BM1684X, BM1684X2, BM1684, BM1688, BM1690, BM1690E and CV184X.",
               "softtpu");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text(SOFTTPU_VERSION));
  int status = 0;
  for (const Row& row : kCommands) {
    CLI::App* command = app.add_subcommand(row.name, row.help);
    command->callback([&status, run = row.add(*command)] { status = run(); });
  }
  app.footer(
      "Begin with \"softtpu run --check=all -- PROGRAM\", \"softtpu try KERNEL.c CASE.py\" or \"softtpu api --search "
      "WORDS\".\n"
      "\"softtpu COMMAND --help\" lists the options of one command.\n\n"
      "Exit status: 0; 1 when the command could not do its work; 2 when an option, argument or setting is not usable;\n"
      "3 when an output file cannot be written. run, replay and report end with the status of their program, or with\n"
      "120 to 125: \"softtpu run --help\".");
  check_numbers(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  } catch (const std::bad_alloc&) {
    return softtpu::cli::fail("there is not enough memory for what was asked");
  } catch (const std::exception& failure) {
    return softtpu::cli::fail(failure.what());
  }
  return status;
}
