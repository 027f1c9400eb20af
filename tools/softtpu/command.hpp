// The subcommands of `softtpu`. A new one is a file of its own with an add_... function here and a row of the table in
// main.cpp.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <utility>

#include "runtime/base/result.hpp"
#include "runtime/base/text.hpp"

namespace CLI {
class App;
}

namespace softtpu::cli {

// Declares the subcommand's options on its parser; what it returns runs when the subcommand was chosen, and gives the
// exit status.
using Run = std::function<int()>;

Run add_serve(CLI::App& app);
Run add_run(CLI::App& app);
Run add_replay(CLI::App& app);
Run add_report(CLI::App& app);
Run add_info(CLI::App& app);
Run add_env(CLI::App& app);
Run add_sdk(CLI::App& app);
Run add_rules(CLI::App& app);
Run add_bmodel(CLI::App& app);
Run add_api(CLI::App& app);
Run add_dump(CLI::App& app);
Run add_golden(CLI::App& app);
Run add_layout(CLI::App& app);
Run add_try(CLI::App& app);

// The exit status of a command; --help of each says when. `run`, `replay` and `report`, which end with their program's
// status, have numbers of their own (runtime/report/report.hpp).
enum ExitStatus : int {
  kDone = 0,
  kFailed = 1,      // the command could not do its work, or has found something wrong
  kUsageError = 2,  // an option, argument or setting is not usable
  kNotWritten = 3,  // an output file cannot be written
};

// Prints on standard output what may hold names from a file.
template <class... Values>
void print_escaped(fmt::format_string<Values...> format, Values&&... values) {
  fmt::print("{}", escape_controls(fmt::format(format, std::forward<Values>(values)...)));
}

// Prints "softtpu: TEXT" on standard error; the exit status of a command that could not do its work.
int fail(const char* text);
// The same; the status tells errors of usage from others.
int fail(const Error& error);

// What `--json` prints: one document, indented, on standard output.
void print_json(const nlohmann::json& json);

}  // namespace softtpu::cli
