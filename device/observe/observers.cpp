#include "device/observe/observers.hpp"

#include <fmt/format.h>

#include <sstream>

#include "device/observe/race_check.hpp"
#include "device/observe/time_observer.hpp"
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

Result<std::vector<std::shared_ptr<Observer>>> open_shared_tools(const Settings& settings, const Chip& chip) {
  std::vector<std::shared_ptr<Observer>> tools;
  if (!settings.trace_path.empty()) {
    auto trace = make_trace(settings.trace_path);
    if (!trace) return trace.error();
    tools.push_back(*std::move(trace));
  }
  // A file that needs estimates turns them on, without a report to read.
  const bool wants_file = !settings.timeline_path.empty() || !settings.time_record_path.empty();
  if (!settings.time.empty() || wants_file) {
    const auto preset = settings.time == "vendor" ? TimingPreset::kVendor : TimingPreset::kFull;
    auto time =
        make_time_observer(chip, {preset, !settings.time.empty(), settings.timeline_path, settings.time_record_path});
    if (!time) return Error{time.error().kind, "SOFTTPU_TIME: " + time.error().text};
    tools.push_back(*std::move(time));
  }
  return tools;
}

Result<Tools> make_tools(const Settings& settings, const Chip&, const std::vector<std::shared_ptr<Observer>>& shared) {
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
  tools.observers.insert(tools.observers.end(), shared.begin(), shared.end());
  return tools;
}

}  // namespace softtpu
