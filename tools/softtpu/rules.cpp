// softtpu rules: what the checks know.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/report/rules.hpp"
#include "tools/softtpu/command.hpp"

namespace softtpu::cli {
namespace {

int run(const std::string& name, bool json) {
  auto all = nlohmann::json::array();
  int count = 0;
  for (const Rule& row : rules()) {
    if (!name.empty() && name != row.id && name != row.check) continue;
    ++count;
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
      if (name == row.id) fmt::print("  why: {}\n  fix: {}\n", row.why, row.fix);
    }
  }
  if (count == 0) return fail(Error{ErrorKind::kUsage, "rules: there is no rule or check \"" + name + "\""});
  if (json) fmt::print("{}\n", all.dump(1));
  return 0;
}

}  // namespace

Run add_rules(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("name", *name, "a rule: why it matters and how to fix it; a check: its rules");
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "as JSON, with why each matters and how to fix it");
  app.footer("Exit status: 0; 2 when there is no such rule or check.");
  return [name, json] { return run(*name, *json); };
}

}  // namespace softtpu::cli
