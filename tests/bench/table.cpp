#include "tests/bench/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace softtpu::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

double counter(const Run& run, const char* name) {
  const auto found = run.counters.find(name);
  return found == run.counters.end() ? 0.0 : found->second.value;
}

std::string text(double value, const char* format) {
  return value == 0 ? std::string() : fmt::format(fmt::runtime(format), value);
}

struct Goal {
  std::string text;
  bool met = true;
};

// What is wanted of a line, and whether it was reached.
Goal goal_of(const Run& run) {
  const double achieved = counter(run, "achieved"), fraction = counter(run, "fraction");
  if (const double least = counter(run, "required"); least > 0)
    return {fmt::format(">= {:.2f}", least), fraction >= least};
  if (const double most = counter(run, "at_most_limits"); most > 0)
    return {fmt::format("<= {:.2f}", most), fraction <= most};
  if (const double ratio = counter(run, "required_vendor_ratio"); ratio > 0)
    return {fmt::format(">= {:.0f} x", ratio), counter(run, "vendor_ratio") >= ratio};
  if (const double least = counter(run, "at_least"); least > 0)
    return {fmt::format(">= {:.4g}", least), achieved >= least};
  if (const double most = counter(run, "at_most"); most > 0) return {fmt::format("<= {:.4g}", most), achieved <= most};
  return {};
}

// Of a second processor, in a row that wants more than the machine's own loop gains.
bool machine_gains_less(const Run& run) {
  const double gain = counter(run, "machine_gain");
  return gain > 0 && gain < counter(run, "required") && gain <= counter(run, "fraction");
}

constexpr const char* kLine = "{:<58} {:>9} {:>9} {:>6} {:>9} {:>4} {:>8} {:>8}  {}\n";

}  // namespace

std::string read_earlier(const std::string& path, Earlier& earlier) {
  std::ifstream file(path);
  if (!file) return fmt::format("{}: cannot be read", path);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("benchmarks") || !json.at("benchmarks").is_array())
    return fmt::format("{}: not the JSON of an earlier run", path);
  for (const auto& line : json.at("benchmarks")) {
    if (!line.is_object() || line.value("run_type", "") != "iteration" || !line.contains("achieved") ||
        !line.at("achieved").is_number())
      continue;
    const std::string name = line.value("name", "");
    earlier[name.substr(0, name.find("/min_time"))] = line.at("achieved").get<double>();
  }
  return {};
}

bool Table::ReportContext(const Context& context) {
  const auto& cpu = context.cpu_info;
  fmt::print("{} processors, {:.1f} GHz, load {:.2f}\n\n", cpu.num_cpus, cpu.cycles_per_second / 1e9,
             cpu.load_avg.empty() ? 0.0 : cpu.load_avg.front());
  fmt::print(kLine, "work", "achieved", "limit", "ratio", "wanted", "met", "x vendor",
             earlier_.empty() ? "" : "earlier", "unit, limit");
  return true;
}

void Table::ReportRuns(const std::vector<Run>& runs) {
  // Each repetition tells what all before it and itself have seen.
  const auto last =
      std::find_if(runs.rbegin(), runs.rend(), [](const Run& run) { return run.run_type == Run::RT_Iteration; });
  if (last == runs.rend()) return;
  rows_[last->family_index] = *last;
}

void Table::print(const Run& run) {
  if (run.error_occurred) {
    fmt::print("{:<58} {}\n", run.run_name.function_name, run.error_message);
    return;
  }
  const Goal goal = goal_of(run);
  if (!goal.text.empty()) {
    ++wanted_;
    if (!goal.met) (machine_gains_less(run) ? bounded_ : missed_).push_back(run.run_name.function_name);
  }
  const auto before = earlier_.find(run.run_name.function_name);
  const double change = before == earlier_.end() || before->second == 0 ? 0 : counter(run, "achieved") / before->second;
  const std::string machine = text(counter(run, "machine_gain"), " (the machine's own loop: {:.2f})");
  fmt::print(kLine, run.run_name.function_name, text(counter(run, "achieved"), "{:.4g}"),
             text(counter(run, "limit"), "{:.4g}"), text(counter(run, "fraction"), "{:.2f}"), goal.text,
             goal.text.empty()         ? ""
             : goal.met                ? "yes"
             : machine_gains_less(run) ? "no*"
                                       : "no",
             text(counter(run, "vendor_ratio"), "{:.0f}"), text(change, "x {:.2f}"), run.report_label + machine);
}

void Table::Finalize() {
  for (const auto& [index, run] : rows_) print(run);
  const auto missed = static_cast<int>(missed_.size() + bounded_.size());
  fmt::print("\n{} of {} wishes met\n", wanted_ - missed, wanted_);
  for (const std::string& name : missed_) fmt::print("  missed: {}\n", name);
  for (const std::string& name : bounded_) fmt::print("  missed*: {}\n", name);
  if (!bounded_.empty()) fmt::print("  * the machine's own loop gains no more from a second processor\n");
}

}  // namespace softtpu::bench
