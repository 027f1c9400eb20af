#include "device/observe/observers.hpp"

#include <fmt/format.h>

#include <sstream>

#include "device/observe/race_check.hpp"
#include "device/observe/trace.hpp"

namespace softtpu {
namespace {

struct Check {
  std::string_view name;
  std::shared_ptr<Observer> (*make)(std::shared_ptr<Findings>);
};

constexpr Check kChecks[] = {{"race", make_race_check}};

Result<void> add_checks(const std::string& names, const std::shared_ptr<Findings>& findings,
                        std::vector<std::shared_ptr<Observer>>& observers) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    bool known = false;
    std::string all;
    for (const Check& check : kChecks) {
      all += fmt::format("{}, ", check.name);
      if (name != check.name && name != "all") continue;
      observers.push_back(check.make(findings));
      known = true;
    }
    if (!known) return Error{ErrorKind::kUsage, fmt::format("SOFTTPU_CHECK: \"{}\" is not one of {}all.", name, all)};
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<Observer>> open_trace(const Settings& settings) {
  if (settings.trace_path.empty()) return std::shared_ptr<Observer>();
  return make_trace(settings.trace_path);
}

Result<Tools> make_tools(const Settings& settings, const Chip&, const std::shared_ptr<Observer>& trace) {
  Tools tools;
  if (!settings.journal_path.empty()) {
    auto journal = Journal::open(settings.journal_path);
    if (!journal) return journal.error();
    tools.journal = *std::move(journal);
  }
  if (!settings.checks.empty()) {
    auto allow = parse_allow_rules(settings.allow);
    if (!allow) return Error{allow.error().kind, "SOFTTPU_ALLOW: " + allow.error().text};
    tools.findings = std::make_shared<Findings>(
        Findings::Options{static_cast<int>(settings.max_findings), *std::move(allow), tools.journal});
    if (auto added = add_checks(settings.checks, tools.findings, tools.observers); !added) return added.error();
  }
  if (trace != nullptr) tools.observers.push_back(trace);
  return tools;
}

}  // namespace softtpu
