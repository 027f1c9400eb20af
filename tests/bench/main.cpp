// Runs all registered work with Google Benchmark and prints one table: achieved, limit in the same run, ratio.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <iostream>
#include <vector>

#include "device/core/execution.hpp"
#include "device/memory/parallel.hpp"
#include "tests/bench/table.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void set_if(benchmark::State& state, const char* counter, double value) {
  if (value > 0) state.counters[counter] = value;
}

void tell_wishes(benchmark::State& state, const Work& work) {
  set_if(state, "required", work.required);
  set_if(state, "required_vendor_ratio", work.required_vendor_ratio);
  set_if(state, "at_least", work.at_least);
  set_if(state, "at_most", work.at_most);
  set_if(state, "at_most_limits", work.at_most_limits);
}

bool alone = false;  // leave the limits out

// The second of two runs: work stands in a row of its kind, as commands do in a kernel, with caches and threads awake.
// Of long work that makes no difference.
double time_in_a_row(const std::function<void()>& run) {
  constexpr double kLong = 20e-3;
  const double first = seconds_of(run);
  return first > kLong ? first : seconds_of(run);
}

// What all threads add to a loop of the machine's own.
class MachineGain {
 public:
  explicit MachineGain(const std::function<void()>& loop) : loop_(loop) {}
  void measure() {
    if (!loop_) return;
    all_.push_back(time_in_a_row(loop_));
    set_thread_limit(1);
    one_.push_back(time_in_a_row(loop_));
    set_thread_limit(0);
  }
  void tell(benchmark::State& state) const {
    if (!all_.empty()) state.counters["machine_gain"] = median(one_) / median(all_);
  }

 private:
  const std::function<void()>& loop_;
  std::vector<double> all_, one_;
};

void measure_rate(benchmark::State& state, const Work& work) {
  std::vector<double> work_times;
  std::vector<double> limit_times;
  const std::function<void()> none;
  MachineGain machine(alone ? none : work.machine_loop);
  work.run();
  if (work.limit && !alone) work.limit();
  for (auto _ : state) {
    work_times.push_back(time_in_a_row(work.run));
    if (work.limit && !alone) limit_times.push_back(time_in_a_row(work.limit));
    machine.measure();
    state.SetIterationTime(work_times.back());
  }
  machine.tell(state);
  const double achieved = work.amount / median(work_times);
  state.counters["achieved"] = achieved;
  if (work.vendor > 0) state.counters["vendor_ratio"] = achieved / work.vendor;
  state.SetLabel(work.unit + "/s " + work.limit_name);
  if (limit_times.empty()) return;
  state.counters["limit"] = work.limit_amount / median(limit_times);
  state.counters["fraction"] = achieved / state.counters["limit"];
}

void measure_figure(benchmark::State& state, const Work& work) {
  std::vector<double> figures;
  std::vector<double> limits;
  for (auto _ : state) {
    state.SetIterationTime(seconds_of([&] { figures.push_back(work.figure()); }));
    if (work.limit_figure && !alone) limits.push_back(work.limit_figure());
  }
  state.counters["achieved"] = median(figures);
  if (work.vendor > 0) state.counters["vendor_ratio"] = work.vendor / median(figures);
  state.SetLabel(work.unit + " " + work.limit_name);
  if (limits.empty()) return;
  state.counters["limit"] = median(limits);
  state.counters["fraction"] = median(figures) / median(limits);
}

std::vector<std::function<std::vector<Work>()>>& makers() {
  static std::vector<std::function<std::vector<Work>()>> list;
  return list;
}

bool matches(const Work& work, const std::string& filter) {
  return filter.empty() || (work.group + " " + work.name).find(filter) != std::string::npos;
}

void register_work(bool quick, const std::string& filter) {
  for (const auto& make : makers()) {
    for (Work& work : make()) {
      const bool wanted = !quick || work.quick;
      if (wanted && matches(work, filter)) all_work().push_back(work);
      if (!work.large) continue;
      Work second = two_cores(std::move(work));
      if (wanted && matches(second, filter)) all_work().push_back(std::move(second));
    }
  }
  for (const Work& work : all_work()) {
    benchmark::RegisterBenchmark((work.group + " " + work.name).c_str(),
                                 [&work](benchmark::State& state) {
                                   if (work.prepare) work.prepare();
                                   work.figure ? measure_figure(state, work) : measure_rate(state, work);
                                   tell_wishes(state, work);
                                 })
        ->UseManualTime()
        ->MinTime(quick ? 0.05 : 0.5);
  }
}

int run(int argc, char** argv) {
  CLI::App app{
      "Measures softtpu against the limits of this machine, each beside its limit in the same run. SOFTTPU_SIMD, "
      "SOFTTPU_KERNELS and SOFTTPU_THREADS choose how commands are carried out."};
  bool quick = false, processor = false;
  std::string filter, json, compare;
  app.add_flag("--quick", quick, "shorter runs of the rows that matter most: about a minute");
  app.add_option("--filter", filter, "only rows whose name contains this text");
  app.add_option("--json", json, "write all figures to this file")->take_last();
  app.add_option("--compare", compare, "show the change against the JSON of an earlier run");
  app.add_flag("--processor-time", processor,
               "measure the processor time of this process instead of elapsed time: ratios on a loaded machine");
  app.add_flag("--alone", alone, "run the work without its limit, for a profiler");
  CLI11_PARSE(app, argc, argv);
  use_processor_time(processor);
  const Result<Settings> settings = read_settings();
  const Result<void> chosen = settings ? choose_execution(*settings) : Result<void>(settings.error());
  if (!chosen) {
    std::cerr << "softtpu_bench: " << chosen.error().text << "\n";
    return 2;
  }
  Earlier earlier;
  if (!compare.empty()) {
    if (const std::string complaint = read_earlier(compare, earlier); !complaint.empty()) {
      std::cerr << "softtpu_bench: " << complaint << "\n";
      return 2;
    }
  }
  std::vector<std::string> options = {argv[0], "--benchmark_out_format=json"};
  if (!json.empty()) options.push_back("--benchmark_out=" + json);
  std::vector<char*> words;
  for (std::string& option : options) words.push_back(option.data());
  int count = static_cast<int>(words.size());
  benchmark::Initialize(&count, words.data());
  register_work(quick, filter);
  Table table(std::move(earlier));
  if (json.empty()) {
    benchmark::RunSpecifiedBenchmarks(&table);
  } else {
    benchmark::JSONReporter file;
    benchmark::RunSpecifiedBenchmarks(&table, &file);
  }
  return 0;
}

}  // namespace

namespace {
bool processor_time = false;

double now() {
  timespec time{};
  clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
}  // namespace

void use_processor_time(bool use) { processor_time = use; }

double seconds_of(const std::function<void()>& function) {
  const double start = now();
  function();
  return now() - start;
}

std::vector<Work>& all_work() {
  static std::vector<Work> list;
  return list;
}

bool add_work(std::function<std::vector<Work>()> make) {
  makers().push_back(std::move(make));
  return true;
}

Work two_cores(Work work) {
  work.group = "two cores: " + work.group;
  work.machine_loop = work.shared_limit ? work.shared_limit : work.limit;
  work.limit = [run = work.run] {
    set_thread_limit(1);
    run();
    set_thread_limit(0);
  };
  work.limit_name = "one thread";
  work.limit_amount = work.amount;
  work.required = work.machine ? 0 : 1.8;
  work.vendor = work.required_vendor_ratio = 0;
  return work;
}

}  // namespace softtpu::bench

int main(int argc, char** argv) { return softtpu::bench::run(argc, argv); }
