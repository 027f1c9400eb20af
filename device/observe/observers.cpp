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

Result<std::vector<std::shared_ptr<Observer>>> make_observers(const ObserverSettings& settings) {
  std::vector<std::shared_ptr<Observer>> observers;
  const auto findings = std::make_shared<Findings>(settings.max_findings);
  if (auto added = add_checks(settings.checks, findings, observers); !added) return added.error();
  if (!settings.trace_path.empty()) {
    auto trace = make_trace(settings.trace_path);
    if (!trace) return trace.error();
    observers.push_back(std::move(*trace));
  }
  return observers;
}

}  // namespace softtpu
