// softtpu env: every environment variable that softtpu reads, with its value, default and meaning.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "device/cli/command.hpp"
#include "runtime/base/config.hpp"

namespace softtpu::cli {
namespace {

// 1 when a variable has a value that softtpu refuses.
int run() {
  int status = 0;
  for (const Variable& variable : variables()) {
    const bool set = variable_text(variable) != variable.fallback;
    fmt::print("{}={}{}\n    {}", variable.name, variable_text(variable), set ? "" : "    (default)", variable.meaning);
    if (set) fmt::print(" [default: {}]", variable.fallback.empty() ? "not set" : variable.fallback);
    fmt::print("\n");
    Settings scratch;
    if (auto good = variable.apply(scratch, variable_text(variable)); !good) {
      fmt::print("    NOT USABLE: {}\n", good.error().text);
      status = 1;
    }
  }
  return status;
}

}  // namespace

Run add_env(CLI::App& app) {
  app.footer("Exit status: 0; 1 when a variable has a value that is not usable.");
  return run;
}

}  // namespace softtpu::cli
