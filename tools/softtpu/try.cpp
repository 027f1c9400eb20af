// softtpu try: becomes the Python package's program, where the cases' arrays are.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/softtpu/command.hpp"
#include "tools/softtpu/python.hpp"

namespace softtpu::cli {

Run add_try(CLI::App& app) {
  app.prefix_command();
  app.set_help_flag();  // Python's program explains its options
  app.allow_extras();
  return [&app]() -> int {
    std::vector<std::string> words = {"softtpu", "try"};
    const auto given = app.remaining();
    words.insert(words.end(), given.begin(), given.end());
    const Error error = become_python("try", words);
    const auto has = [&](const char* option) { return std::ranges::find(given, option) != given.end(); };
    if (!has("--json")) return fail(error);
    // As the Python program says that it cannot begin (softtpu.trial).
    const nlohmann::ordered_json document = {{"format", "softtpu-try"},
                                             {"version", 2},
                                             {"verdict", "usage"},
                                             {"exit_status", static_cast<int>(kUsageError)},
                                             {"text", error.text}};
    const int indent = has("--watch") ? -1 : 1;
    fmt::print("{}\n", document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
    return kUsageError;
  };
}

}  // namespace softtpu::cli
