#include "device/observers/device_observers.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <string_view>

#include "device/checks/bank_check.hpp"
#include "device/checks/constraint_check.hpp"
#include "device/checks/core_race_check.hpp"
#include "device/checks/deviation_check.hpp"
#include "device/checks/init_check.hpp"
#include "device/checks/launch_touches.hpp"
#include "device/checks/memory_check.hpp"
#include "device/checks/nan_check.hpp"
#include "device/checks/operand_type_check.hpp"
#include "device/checks/overlap_check.hpp"
#include "device/checks/overwrite_check.hpp"
#include "device/checks/race_check.hpp"
#include "device/checks/scalar_check.hpp"
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

// What a check is made of.
struct CheckParts {
  const std::set<std::string>& checks;  // that the settings name
  const Settings& settings;
  const Chip& chip;
  const std::vector<Chip>& targets;  // other chips that kernels are to run on
  std::shared_ptr<Findings> findings;
  std::shared_ptr<AllocationTable> allocations;
  std::shared_ptr<Shadow> shadow;  // null: writes are not followed
  std::shared_ptr<LaunchTouches> touches;
  NanObservers nan;

  bool wants(std::string_view name) const { return checks.contains(std::string(name)); }
};

using Made = Result<std::shared_ptr<Observer>>;

// A check is made when the settings name it (or one of two) and what it needs is there; without a name, whenever it is.
struct CheckRow {
  std::string_view name, or_name;
  bool (*needs)(const CheckParts&);
  Made (*make)(const CheckParts&);
};

bool nothing(const CheckParts&) { return true; }
bool written_bytes(const CheckParts& parts) { return parts.shadow != nullptr; }
bool several_cores(const CheckParts& parts) { return parts.chip.cores > 1; }
bool other_chips(const CheckParts& parts) { return !parts.targets.empty(); }

// In the order in which they see a command.
constexpr CheckRow kChecks[] = {
    {"memory", "constraint", nothing,
     [](const CheckParts& p) -> Made { return make_refusal_report(p.findings, p.checks); }},
    {"memory", "", nothing, [](const CheckParts& p) -> Made { return make_memory_check(p.findings, p.allocations); }},
    // Before those that see what follows from a wrong type.
    {"constraint", "", nothing,
     [](const CheckParts& p) -> Made { return make_operand_type_check(p.findings, p.allocations); }},
    {"memory", "", nothing, [](const CheckParts& p) -> Made { return make_overwrite_check(p.findings); }},
    {"", "", written_bytes,
     [](const CheckParts& p) -> Made {
       return make_init_check(p.wants("init") ? p.findings : nullptr, p.shadow, p.allocations);
     }},
    {"nan", "", nothing, [](const CheckParts& p) -> Made { return p.nan.results; }},
    {"race", "", nothing, [](const CheckParts& p) -> Made { return make_race_check(p.findings); }},
    {"race", "", nothing, [](const CheckParts& p) -> Made { return make_touch_recorder(p.touches); }},
    {"race", "", several_cores, [](const CheckParts& p) -> Made { return make_core_race_check(p.findings, p.chip); }},
    // A debugger would stop at every closed page.
    {"race", "", nothing,
     [](const CheckParts& p) -> Made { return make_processor_race_check(p.findings, p.settings.gdb_socket.empty()); }},
    {"constraint", "", nothing,
     [](const CheckParts& p) -> Made { return make_constraint_check(p.findings, p.settings.stack_limit); }},
    {"constraint", "", nothing, [](const CheckParts& p) -> Made { return make_overlap_check(p.findings); }},
    {"constraint", "", nothing, [](const CheckParts& p) -> Made { return make_scalar_check(p.findings); }},
    {"constraint", "", nothing, [](const CheckParts& p) -> Made { return make_deviation_check(p.findings); }},
    {"bank", "", nothing, [](const CheckParts& p) -> Made { return make_bank_check(p.findings, p.chip); }},
    {"nan", "", nothing, [](const CheckParts& p) -> Made { return p.nan.operands; }},
    {"", "", other_chips, [](const CheckParts& p) -> Made { return make_portability_check(p.findings, p.targets); }},
};

Result<void> add_checks(const std::set<std::string>& checks, const Settings& settings, const Chip& chip,
                        const Findings::Options& options, DeviceObservers& observers) {
  const auto targets = load_chips(settings.portable_to);
  if (!targets) return setting_error("SOFTTPU_PORTABLE_TO", targets.error());
  const auto allocations = AllocationTable::create();
  if (!allocations) return allocations.error();
  // A record says which bytes have been written, for checks of its replay.
  if (checks.contains("init") || checks.contains("output") || !settings.record_path.empty()) {
    auto made = Shadow::create(chip);
    if (!made) return made.error();
    observers.shadow = *made;
  }
  observers.allocations = *allocations;
  std::shared_ptr<LaunchTouches> touches;
  if (checks.contains("race")) {
    auto made = LaunchTouches::create();
    if (!made) return made.error();
    touches = *made;
  }
  const CheckParts parts{checks,
                         settings,
                         chip,
                         *targets,
                         observers.findings,
                         *allocations,
                         observers.shadow,
                         touches,
                         make_nan_check(observers.findings, observers.shadow)};
  for (const CheckRow& row : kChecks) {
    const bool named = row.name.empty() || parts.wants(row.name) || parts.wants(row.or_name);
    if (!named || !row.needs(parts)) continue;
    auto check = row.make(parts);
    if (!check) return check.error();
    observers.list.push_back(*std::move(check));
  }
  // The server's findings are its own: in a program with linked-in kernels it runs beside the core.
  const auto clients = observers.clients ? std::make_shared<ClientFindings>(options) : nullptr;
  observers.watch = std::make_shared<HostWatch>(HostWatch::Parts{
      *allocations, observers.shadow, clients ? clients->list() : std::make_shared<Findings>(options), clients, touches,
      parts.wants("memory"), parts.wants("output"), parts.wants("constraint"), *targets});
  return {};
}

// A tool that writes a file is made when a setting asks for it.
struct WriterParts {
  const Settings& settings;
  const Chip& chip;
  const ObserverScope& of;
};
struct WriterRow {
  bool (*needs)(const WriterParts&);
  Made (*make)(const WriterParts&);
};

bool trace_file(const WriterParts& parts) { return !parts.settings.trace_path.empty(); }
// A file that needs estimates turns them on, without a report to read.
bool estimates(const WriterParts& parts) {
  const Settings& s = parts.settings;
  return !s.time.empty() || !s.timeline_path.empty() || !s.time_record_path.empty();
}
// "on:1000", as runtime/base/config.cpp has checked it; 0: none.
std::uint32_t pace_of(const std::string& time) {
  const std::size_t colon = time.find(':');
  return colon == std::string::npos ? 0 : static_cast<std::uint32_t>(std::stoul(time.substr(colon + 1)));
}
Made make_times(const WriterParts& parts) {
  const Settings& s = parts.settings;
  const auto preset = s.time == "vendor" ? TimingPreset::kVendor : TimingPreset::kFull;
  const bool prints = !s.time.empty() && s.time != "only-silent";
  auto times = make_time_observer(parts.chip, {preset, prints, s.timeline_path, s.time_record_path, parts.of.device,
                                               pace_of(s.time), parts.of.keep_files});
  return times ? times : setting_error("SOFTTPU_TIME", times.error());
}

constexpr WriterRow kWriters[] = {
    {trace_file,
     [](const WriterParts& p) -> Made { return make_trace(p.settings.trace_path, p.of.device, p.of.keep_files); }},
    {estimates, make_times},
};

}  // namespace

Result<DeviceObservers> make_observers(const Settings& settings, const Chip& chip, const ObserverScope& of) {
  DeviceObservers observers;
  if (!settings.journal_path.empty()) {
    auto journal = Journal::open(settings.journal_path);
    if (!journal) return journal.error();
    observers.journal = *std::move(journal);
  }
  const auto checks = parse_checks(settings.checks);
  if (!checks) return setting_error("SOFTTPU_CHECK", checks.error());
  auto allow = parse_allow_rules(settings.allow);
  if (!allow) return setting_error("SOFTTPU_ALLOW", allow.error());
  const Findings::Options options{static_cast<int>(settings.max_findings), *std::move(allow), observers.journal};
  if (of.many_clients) observers.clients = std::make_shared<ClientFindings>(options);
  observers.findings = of.many_clients ? observers.clients->list() : std::make_shared<Findings>(options);
  if (settings.schedule != "program") observers.schedule = settings.schedule;
  observers.schedules = settings.schedules;
  observers.gdb_socket = settings.gdb_socket;
  const bool computes = !settings.time.starts_with("only");
  if (!computes && (!checks->empty() || !settings.portable_to.empty() || !settings.record_path.empty() ||
                    observers.compares_runs() || !observers.schedule.empty())) {
    return Error{
        ErrorKind::kUsage,
        "SOFTTPU_TIME=only computes nothing, so that there is nothing to check, compare or record: leave out "
        "SOFTTPU_CHECK, SOFTTPU_PORTABLE_TO, SOFTTPU_RECORD, SOFTTPU_SCHEDULE, SOFTTPU_SCHEDULES and SOFTTPU_CORES."};
  }
  const bool watching = !checks->empty() || !settings.portable_to.empty() || !settings.record_path.empty();
  observers.core_counts = settings.core_counts;
  if (watching || observers.compares_runs()) {
    if (auto added = add_checks(*checks, settings, chip, options, observers); !added) return added.error();
  }
  const WriterParts parts{settings, chip, of};
  for (const WriterRow& row : kWriters) {
    if (!row.needs(parts)) continue;
    auto writer = row.make(parts);
    if (!writer) return writer.error();
    observers.list.push_back(*std::move(writer));
  }
  return observers;
}

}  // namespace softtpu
