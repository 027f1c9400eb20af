#include "device/observe/observers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "device/observe/bank_check.hpp"
#include "device/observe/constraint_check.hpp"
#include "device/observe/init_check.hpp"
#include "device/observe/memory_check.hpp"
#include "device/observe/race_check.hpp"
#include "device/observe/time_observer.hpp"
#include "device/observe/trace.hpp"

namespace softtpu {
namespace {

// What "all" stands for; the others have to be asked for by name.
constexpr std::string_view kAllChecks[] = {"memory", "init", "race", "constraint", "bank"};
constexpr std::string_view kOtherChecks[] = {"output"};

Error setting_error(const char* variable, const Error& error) {
  return {error.kind, fmt::format("{}: {}", variable, error.text)};
}

Result<std::set<std::string>> parse_checks(const std::string& names) {
  std::set<std::string> checks;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "all") {
      checks.insert(std::begin(kAllChecks), std::end(kAllChecks));
    } else if (std::count(std::begin(kAllChecks), std::end(kAllChecks), name) +
                   std::count(std::begin(kOtherChecks), std::end(kOtherChecks), name) >
               0) {
      checks.insert(name);
    } else {
      return Error{ErrorKind::kUsage, fmt::format("\"{}\" is not one of {}, {}, all.", name,
                                                  fmt::join(kAllChecks, ", "), fmt::join(kOtherChecks, ", "))};
    }
  }
  return checks;
}

Result<std::vector<Chip>> load_chips(const std::string& names) {
  std::vector<Chip> chips;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    auto chip = load_chip(name);
    if (!chip) return chip.error();
    chips.push_back(*std::move(chip));
  }
  return chips;
}

Result<void> add_checks(const std::set<std::string>& checks, const Settings& settings, const Chip& chip,
                        const Findings::Options& options, Tools& tools) {
  const auto targets = load_chips(settings.portable_to);
  if (!targets) return setting_error("SOFTTPU_PORTABLE_TO", targets.error());
  const auto allocations = AllocationTable::create();
  if (!allocations) return allocations.error();
  std::shared_ptr<Shadow> shadow;
  // A record says which bytes have been written, for checks of its replay.
  if (checks.contains("init") || checks.contains("output") || !settings.record_path.empty()) {
    auto made = Shadow::create(chip);
    if (!made) return made.error();
    shadow = *made;
  }
  tools.allocations = *allocations;
  tools.shadow = shadow;
  const auto& findings = tools.findings;
  auto& list = tools.observers;
  const auto want = [&](const char* name) { return checks.contains(name); };
  if (want("memory") || want("constraint")) list.push_back(make_refusal_report(findings, checks));
  if (want("memory")) list.push_back(make_memory_check(findings, *allocations));
  if (shadow != nullptr) list.push_back(make_init_check(want("init") ? findings : nullptr, shadow, *allocations));
  if (want("race")) list.push_back(make_race_check(findings));
  if (want("race")) list.push_back(make_processor_race_check(findings));
  if (want("constraint")) list.push_back(make_constraint_check(findings, settings.stack_limit));
  if (want("bank")) list.push_back(make_bank_check(findings));
  if (!targets->empty()) list.push_back(make_portability_check(findings, *targets));
  // The server's findings are its own: in a program with linked-in kernels it runs beside the core.
  tools.watch =
      std::make_shared<HostWatch>(HostWatch::Parts{*allocations, shadow, std::make_shared<Findings>(options),
                                                   want("memory"), want("output"), want("constraint"), *targets});
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

Result<Tools> make_tools(const Settings& settings, const Chip& chip, const std::vector<std::shared_ptr<Observer>>& shared) {
  Tools tools;
  if (!settings.journal_path.empty()) {
    auto journal = Journal::open(settings.journal_path);
    if (!journal) return journal.error();
    tools.journal = *std::move(journal);
  }
  const auto checks = parse_checks(settings.checks);
  if (!checks) return setting_error("SOFTTPU_CHECK", checks.error());
  auto allow = parse_allow_rules(settings.allow);
  if (!allow) return setting_error("SOFTTPU_ALLOW", allow.error());
  const Findings::Options options{static_cast<int>(settings.max_findings), *std::move(allow), tools.journal};
  tools.findings = std::make_shared<Findings>(options);
  if (settings.schedule != "program") tools.schedule = settings.schedule;
  tools.schedules = settings.schedules;
  tools.gdb_socket = settings.gdb_socket;
  const bool watching = !checks->empty() || !settings.portable_to.empty() || !settings.record_path.empty();
  if (watching || settings.schedules > 1) {
    if (auto added = add_checks(*checks, settings, chip, options, tools); !added) return added.error();
  }
  tools.observers.insert(tools.observers.end(), shared.begin(), shared.end());
  return tools;
}

}  // namespace softtpu
