// softtpu rules: what the checks know.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/report/rules.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

int run(bool json) {
  auto all = nlohmann::json::array();
  for (const Rule& row : rules()) {
    if (json) {
      all.push_back({{"id", row.id},
                     {"check", row.check},
                     {"severity", to_text(row.severity)},
                     {"title", row.title},
                     {"why", row.why},
                     {"fix", row.fix},
                     {"page", "docs/rules/" + page_of(row)}});
    } else {
      fmt::print("{:<29}{:<12}{:<9}{}\n", row.id, row.check, to_text(row.severity), row.title);
    }
  }
  if (json) fmt::print("{}\n", all.dump(1));
  return 0;
}

}  // namespace

Run add_rules(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "as JSON, with why each matters and how to fix it");
  app.footer("Exit status: 0.");
  return [json] { return run(*json); };
}

}  // namespace softtpu::cli
