// Runs all registered work with Google Benchmark and prints one table: achieved, limit in the same run, fraction.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

double seconds_of(const std::function<void()>& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void measure(benchmark::State& state, const Work& work) {
  std::vector<double> work_times;
  std::vector<double> limit_times;
  work.run();
  if (work.limit) work.limit();
  for (auto _ : state) {
    work_times.push_back(seconds_of(work.run));
    if (work.limit) limit_times.push_back(seconds_of(work.limit));
    state.SetIterationTime(work_times.back());
  }
  const double achieved = work.amount / median(work_times);
  state.counters["achieved"] = achieved;
  if (!limit_times.empty()) {
    state.counters["limit"] = work.limit_amount / median(limit_times);
    state.counters["fraction"] = achieved / state.counters["limit"];
  }
  if (work.required > 0) state.counters["required"] = work.required;
  if (work.vendor > 0) state.counters["vendor_ratio"] = achieved / work.vendor;
  if (work.required_vendor_ratio > 0) state.counters["required_vendor_ratio"] = work.required_vendor_ratio;
  state.SetLabel(work.unit + "/s|" + work.limit_name);
}

class Table final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override {
    fmt::print("{:<58} {:>12} {:>12} {:>9} {:>9} {:>10}  {}\n", "work", "achieved", "limit", "fraction", "wanted",
               "x vendor", "unit, limit");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const auto text = [&](const char* counter, const char* format) {
        const auto found = run.counters.find(counter);
        return found == run.counters.end() ? std::string() : fmt::format(fmt::runtime(format), found->second.value);
      };
      std::string wanted = text("required", ">= {:.2f}");
      if (wanted.empty()) wanted = text("required_vendor_ratio", ">= {:.0f} x");
      std::string label = run.report_label;
      std::replace(label.begin(), label.end(), '|', ' ');
      fmt::print("{:<58} {:>12} {:>12} {:>9} {:>9} {:>10}  {}\n", run.run_name.function_name,
                 text("achieved", "{:.4g}"), text("limit", "{:.4g}"), text("fraction", "{:.2f}"), wanted,
                 text("vendor_ratio", "{:.0f}"), label);
    }
  }
};

}  // namespace

std::vector<Work>& all_work() {
  static std::vector<Work> list;
  return list;
}

std::vector<std::function<std::vector<Work>()>>& makers() {
  static std::vector<std::function<std::vector<Work>()>> list;
  return list;
}

bool add_work(std::function<std::vector<Work>()> make) {
  makers().push_back(std::move(make));
  return true;
}

int run(int argc, char** argv) {
  bool quick = false;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else {
      rest.push_back(argv[i]);
    }
  }
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  for (const auto& make : makers()) {
    for (Work& work : make()) {
      if (!quick || work.quick) all_work().push_back(std::move(work));
    }
  }
  for (const Work& work : all_work()) {
    const std::string name = work.group + " " + work.name;
    benchmark::RegisterBenchmark(name.c_str(), [&work](benchmark::State& state) { measure(state, work); })
        ->UseManualTime()
        ->MinTime(quick ? 0.1 : 0.5);
  }
  Table table;
  benchmark::RunSpecifiedBenchmarks(&table);
  return 0;
}

}  // namespace softtpu::bench

int main(int argc, char** argv) { return softtpu::bench::run(argc, argv); }
