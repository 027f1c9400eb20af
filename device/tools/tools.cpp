#include "device/tools/tools.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>

#include "device/checks/bank_check.hpp"
#include "device/checks/constraint_check.hpp"
#include "device/checks/core_race_check.hpp"
#include "device/checks/init_check.hpp"
#include "device/checks/memory_check.hpp"
#include "device/checks/nan_check.hpp"
#include "device/checks/operand_type_check.hpp"
#include "device/checks/overlap_check.hpp"
#include "device/checks/overwrite_check.hpp"
#include "device/checks/race_check.hpp"
#include "device/timing/time_observer.hpp"
#include "device/trace/trace.hpp"

namespace softtpu {
namespace {

Error setting_error(const char* variable, const Error& error) {
  return {error.kind, fmt::format("{}: {}", variable, error.text)};
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
  if (want("memory")) list.push_back(make_overwrite_check(findings));
  if (shadow != nullptr) list.push_back(make_init_check(want("init") ? findings : nullptr, shadow, *allocations));
  if (want("race")) list.push_back(make_race_check(findings));
  if (want("race") && chip.cores > 1) {
    auto cores = make_core_race_check(findings, chip);
    if (!cores) return cores.error();
    list.push_back(*std::move(cores));
  }
  // A debugger would stop at every closed page.
  if (want("race")) list.push_back(make_processor_race_check(findings, settings.gdb_socket.empty()));
  if (want("constraint")) list.push_back(make_constraint_check(findings, settings.stack_limit));
  if (want("constraint")) list.push_back(make_overlap_check(findings));
  if (want("constraint")) list.push_back(make_operand_type_check(findings));
  if (want("bank")) list.push_back(make_bank_check(findings, chip));
  if (want("nan")) list.push_back(make_nan_check(findings));
  if (!targets->empty()) list.push_back(make_portability_check(findings, *targets));
  // The server's findings are its own: in a program with linked-in kernels it runs beside the core.
  const auto clients = tools.clients ? std::make_shared<ClientFindings>(options) : nullptr;
  tools.watch = std::make_shared<HostWatch>(
      HostWatch::Parts{*allocations, shadow, clients ? clients->list() : std::make_shared<Findings>(options), clients,
                       want("memory"), want("output"), want("constraint"), *targets});
  return {};
}

// The tools that write a file: the trace, the time model.
Result<void> add_writers(const Settings& settings, const Chip& chip, const ToolsOf& of, Tools& tools) {
  if (!settings.trace_path.empty()) {
    auto trace = make_trace(settings.trace_path, of.device, of.keep_files);
    if (!trace) return trace.error();
    tools.observers.push_back(*std::move(trace));
  }
  // A file that needs estimates turns them on, without a report to read.
  const bool wants_file = !settings.timeline_path.empty() || !settings.time_record_path.empty();
  if (!settings.time.empty() || wants_file) {
    const auto preset = settings.time == "vendor" ? TimingPreset::kVendor : TimingPreset::kFull;
    auto time = make_time_observer(chip, {preset, !settings.time.empty(), settings.timeline_path,
                                          settings.time_record_path, of.device, of.keep_files});
    if (!time) return Error{time.error().kind, "SOFTTPU_TIME: " + time.error().text};
    tools.observers.push_back(*std::move(time));
  }
  return {};
}

}  // namespace

Result<Tools> make_tools(const Settings& settings, const Chip& chip, const ToolsOf& of) {
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
  if (of.many_clients) tools.clients = std::make_shared<ClientFindings>(options);
  tools.findings = of.many_clients ? tools.clients->list() : std::make_shared<Findings>(options);
  if (settings.schedule != "program") tools.schedule = settings.schedule;
  tools.schedules = settings.schedules;
  tools.gdb_socket = settings.gdb_socket;
  const bool watching = !checks->empty() || !settings.portable_to.empty() || !settings.record_path.empty();
  tools.core_counts = settings.core_counts;
  if (watching || tools.compares_runs()) {
    if (auto added = add_checks(*checks, settings, chip, options, tools); !added) return added.error();
  }
  if (auto added = add_writers(settings, chip, of, tools); !added) return added.error();
  return tools;
}

}  // namespace softtpu
