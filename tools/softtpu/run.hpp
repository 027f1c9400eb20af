// What `softtpu run` and `softtpu replay` share: options that stand for environment variables, a program that runs
// under them, and a report of what its device noted.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/server/startup/setting_options.hpp"

namespace CLI {
class App;
}

namespace softtpu::cli {

struct RunOptions {
  std::shared_ptr<const GivenSettings> settings;
  std::vector<std::string> reports;
  bool gdb = false;
  std::string gdb_commands;  // a file; not empty: gdb
  std::vector<std::string> program;
};

// Declares the options; `options` stays where it is until the command has run.
void add_run_options(CLI::App& app, RunOptions& options, SettingUser user);

// The exit status of the command.
int run_with_options(const RunOptions& options);

// What the exit statuses 120 to 124 mean, for --help.
extern const char* const kGraveStatuses;

}  // namespace softtpu::cli
