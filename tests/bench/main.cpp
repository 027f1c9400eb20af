// Runs all registered work with Google Benchmark and prints one table: achieved, limit in the same run, ratio.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <iostream>
#include <vector>

#include "device/core/execution.hpp"
#include "device/memory/parallel.hpp"
#include "tests/bench/device.hpp"
#include "tests/bench/sweep.hpp"
#include "tests/bench/table.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

// What work takes when nothing else has the processors: a hundredth of all times are shorter. Neighbours on the
// machine, or on the host of a virtual one, only ever add to a time, and to nearly all times for seconds on end.
double undisturbed(std::vector<double> times) {
  const auto hundredth = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 100);
  std::nth_element(times.begin(), hundredth, times.end());
  return *hundredth;
}

// Times of one row, from all its repetitions: the machine's speed at one moment is not that of the next.
struct Times {
  std::vector<double> work, limit;
  std::vector<double> loop_on_all, loop_on_one;  // the machine's own loop
  int calls = 0;
};

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

// Runs in a row, as commands of a kind stand in a kernel: the first ones bring the data to the caches of the processors
// that use them and wake threads, the others are measured. Of long work that makes no difference. The seconds measured.
double time_in_a_row(const std::function<void()>& run, std::vector<double>& times) {
  constexpr double kLong = 20e-3;
  constexpr int kBefore = 5, kMeasured = 5;
  double seconds = seconds_of(run);
  if (seconds > kLong) {
    times.push_back(seconds);
    return seconds;
  }
  for (int i = 1; i < kBefore; ++i) run();
  seconds = 0;
  for (int i = 0; i < kMeasured; ++i) seconds += times.emplace_back(seconds_of(run));
  return seconds;
}

// Each thing in its row: work, its limit, and the machine's own loop on all threads and on one. The seconds of the
// work.
double measure_rates(const Work& work, Times& times) {
  const double seconds = time_in_a_row(work.run, times.work);
  if (alone) return seconds;
  if (work.limit) time_in_a_row(work.limit, times.limit);
  if (!work.machine_loop) return seconds;
  time_in_a_row(work.machine_loop, times.loop_on_all);
  set_thread_limit(1);
  time_in_a_row(work.machine_loop, times.loop_on_one);
  set_thread_limit(0);
  return seconds;
}

void tell_rates(benchmark::State& state, const Work& work, const Times& times) {
  const double achieved = work.amount / undisturbed(times.work);
  state.counters["achieved"] = achieved;
  if (work.vendor > 0) state.counters["vendor_ratio"] = achieved / work.vendor;
  state.SetLabel(work.unit + "/s " + work.limit_name);
  if (!times.limit.empty()) {
    state.counters["limit"] = work.limit_amount / undisturbed(times.limit);
    state.counters["fraction"] = achieved / state.counters["limit"];
  }
  if (!times.loop_on_one.empty())
    state.counters["machine_gain"] = undisturbed(times.loop_on_one) / undisturbed(times.loop_on_all);
}

void measure_rate(benchmark::State& state, const Work& work, Times& times) {
  work.run();
  if (work.limit && !alone) work.limit();
  for (auto _ : state) state.SetIterationTime(measure_rates(work, times));
  tell_rates(state, work, times);
}

void measure_figure(benchmark::State& state, const Work& work, Times& times) {
  for (auto _ : state) {
    state.SetIterationTime(seconds_of([&] { times.work.push_back(work.figure()); }));
    if (work.limit_figure && !alone) times.limit.push_back(work.limit_figure());
  }
  const double achieved = undisturbed(times.work);
  state.counters["achieved"] = achieved;
  if (work.vendor > 0) state.counters["vendor_ratio"] = work.vendor / achieved;
  state.SetLabel(work.unit + " " + work.limit_name);
  if (times.limit.empty()) return;
  state.counters["limit"] = undisturbed(times.limit);
  state.counters["fraction"] = achieved / state.counters["limit"];
}

std::vector<std::function<std::vector<Work>()>>& makers() {
  static std::vector<std::function<std::vector<Work>()>> list;
  return list;
}

// All rows once, in an order drawn by lot, then all again. Neighbours on the host of a virtual machine take a third of
// a processor's speed for seconds; moments in which all processors have theirs are rare, and found by many short
// repetitions rather than by a few long ones.
struct Pace {
  int repetitions;
  double seconds;  // of each
};
constexpr Pace kFull{30, 0.005}, kQuick{8, 0.002};

// On a terminal, how far all repetitions are. Google Benchmark reports rows only when all their repetitions are over.
class Progress {
 public:
  void expect(int repetitions) { expected_ += repetitions; }
  void next() {
    ++seen_;
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\r{} of {} measurements\033[K{}", seen_, expected_, seen_ < expected_ ? "" : "\r\033[K");
  }

 private:
  int expected_ = 0, seen_ = 0;
} progress;

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
  const Pace& pace = quick ? kQuick : kFull;
  progress.expect(static_cast<int>(all_work().size()) * pace.repetitions);
  for (const Work& work : all_work()) {
    benchmark::RegisterBenchmark((work.group + " " + work.name).c_str(),
                                 [&work, &pace, times = std::make_shared<Times>()](benchmark::State& state) {
                                   if (work.prepare) work.prepare();
                                   (work.figure ? measure_figure : measure_rate)(state, work, *times);
                                   tell_wishes(state, work);
                                   // The first repetition takes several calls to find its number of runs.
                                   if (times->calls++ < pace.repetitions) progress.next();
                                 })
        ->UseManualTime()
        ->Repetitions(pace.repetitions)
        ->MinTime(pace.seconds);
  }
}

int run(int argc, char** argv) {
  CLI::App app{
      "Measures softtpu against the limits of this machine, each beside its limit in the same run. SOFTTPU_SIMD, "
      "SOFTTPU_KERNELS and SOFTTPU_THREADS choose how commands are carried out."};
  bool quick = false, processor = false;
  std::string filter, json, compare;
  int worst = 0;
  app.add_flag("--quick", quick, "shorter runs of the rows that matter most: about a minute");
  app.add_option("--filter", filter, "only rows whose name contains this text");
  app.add_option("--json", json, "write all figures to this file")->take_last();
  app.add_option("--compare", compare, "show the change against the JSON of an earlier run");
  app.add_option("--revision", BenchDevice::revision, "of BM1684X, for rows that name no other chip")
      ->check(CLI::IsMember({"bm1684x", "bm1684x-23.05"}))
      ->capture_default_str();
  app.add_flag("--processor-time", processor,
               "measure the processor time of this process instead of elapsed time: ratios on a loaded machine");
  app.add_flag("--alone", alone, "run the work without its limit, for a profiler");
  app.add_option(
         "--sweep", worst,
         "instead of the table: convolutions of few input channels, requantisation, sums of bytes, casts and moves "
         "over many shapes, against the rate of their row, and the WORST of each kind (10)")
      ->expected(0, 1)
      ->default_str("10")
      ->check(CLI::Range(1, 10000))
      ->type_name("WORST");
  CLI11_PARSE(app, argc, argv);
  use_processor_time(processor);
  const Result<Settings> settings = read_settings();
  const Result<void> chosen = settings ? choose_execution(*settings) : Result<void>(settings.error());
  if (!chosen) {
    std::cerr << "softtpu_bench: " << chosen.error().text << "\n";
    return 2;
  }
  if (worst > 0) {
    sweep_shapes(filter, worst);
    return 0;
  }
  Earlier earlier;
  if (!compare.empty()) {
    if (const std::string complaint = read_earlier(compare, earlier); !complaint.empty()) {
      std::cerr << "softtpu_bench: " << complaint << "\n";
      return 2;
    }
  }
  std::vector<std::string> options = {argv[0], "--benchmark_out_format=json",
                                      "--benchmark_enable_random_interleaving=true"};
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
  work.vendor = work.required_vendor_ratio = work.at_least = 0;
  return work;
}

}  // namespace softtpu::bench

int main(int argc, char** argv) { return softtpu::bench::run(argc, argv); }
