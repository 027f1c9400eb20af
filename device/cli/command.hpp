// The subcommands of `softtpu`. A new one is a file of its own with an add_... function here and a row of the table in main.cpp.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace softtpu::cli {

// Declares the subcommand's options on its parser; what it returns runs when the subcommand was chosen, and gives the exit status.
using Run = std::function<int()>;

Run add_serve(CLI::App& app);
Run add_run(CLI::App& app);
Run add_replay(CLI::App& app);
Run add_report(CLI::App& app);
Run add_info(CLI::App& app);
Run add_env(CLI::App& app);
Run add_sdk(CLI::App& app);
Run add_rules(CLI::App& app);

// Prints "softtpu: TEXT" on standard error; the exit status of a command that could not do its work.
int fail(const char* text);

}  // namespace softtpu::cli
