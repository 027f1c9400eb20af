#include "device/timing/time_observer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "device/core/call_kind.hpp"
#include "device/core/execution.hpp"
#include "device/core/launch_outcome.hpp"
#include "device/timing/advice.hpp"
#include "device/timing/launch_clock.hpp"
#include "device/timing/launch_time.hpp"
#include "device/timing/timeline.hpp"
#include "device/trace/shared_file.hpp"
#include "runtime/base/log.hpp"

namespace softtpu {
namespace {

class TimeObserver final : public Observer {
 public:
  TimeObserver(std::unique_ptr<CostModel> kernels, std::unique_ptr<CostModel> networks, const TimeSettings& settings,
               std::unique_ptr<SharedFile> timeline, std::unique_ptr<SharedFile> record,
               const std::shared_ptr<CoreClocks>& clocks)
      : kernels_(std::move(kernels)),
        networks_(std::move(networks)),
        print_(settings.print),
        fitted_(settings.preset == TimingPreset::kFull),
        device_(settings.device),
        pace_(settings.pace),
        timeline_(std::move(timeline)),
        record_(std::move(record)) {
    kernels_.share(clocks);
    networks_.share(clocks);
  }

  void launch_begins(const Memories&, const std::string& kernel, int core) override {
    const std::uint64_t number = launch_.number + 1;
    launch_ = {};
    launch_.kernel = kernel;
    launch_.core = core;
    launch_.number = number;
    launch_.cores = running_launch().workitems;
    launch_.workitem = running_launch().workitem;
    call_index_.clear();
    products_ = {};
    advice_.begin(launch_.cores);
    clock_ = current_call_kind() == CallKind::kNetwork ? &networks_ : &kernels_;
    begin_us_ = clock_->begin(end_of_last_us_);
    started_ = std::chrono::steady_clock::now();
    last_us_.reset();
  }

  void before(Op op, const Command& command) override {
    if (const auto* control = std::get_if<ControlCmd>(&command)) clock_->arrive(op, *control);
  }

  void after(Op op, const Command& command) override {
    const auto timed = clock_->add(op, command);
    if (!timed) {
      if (const auto* control = std::get_if<ControlCmd>(&command)) advice_.add(op, *control);
      return account_meeting(op);
    }
    if (is_product(command)) products_.add(command, timed->cost.operations);
    const std::size_t call = account(op, timed->cost, timed->placed);
    if (print_ || record_) advice_.add(clock_->model(), op, command, *timed, call);
    if (!keeps_commands()) return;
    launch_.placed.push_back({timed->placed, call, timed->cost.ddr_bytes()});
    map_local_memory(command, timed->placed, call);
  }

  void launch_ends(const std::string& fault) override {
    if (!fault.empty()) return;
    // A network's instructions were looked at when it was loaded.
    if (clock_ == &networks_ && launch_.commands == 0) return;
    const EngineTimes& times = clock_->times();
    launch_.end = times.end();
    launch_.last_us = clock_->end();
    for (std::size_t i = 0; i < kQueues; ++i) {
      QueueTime& queue = launch_.queues[i];
      queue.busy_us = times.busy_us(static_cast<Queue>(i));
      for (std::size_t j = 0; j < kWaitKinds; ++j) {
        queue.waited_us[j] = times.waited_us(static_cast<Queue>(i), static_cast<WaitFor>(j));
      }
    }
    last_us_ = launch_.last_us;
    if (clock_ == &networks_) add_trust();
    report();
    end_of_last_us_ = begin_us_ + launch_.total_us();
    keep_pace();
  }

  void add_to(LaunchOutcome& outcome) const override {
    if (last_us_) outcome.estimated_us = last_us_;
  }

 private:
  // A program with a clock of its own sees the times of the chip, all of them as many times longer.
  void keep_pace() const {
    constexpr std::chrono::duration<double> kMost(30);  // no launch is taken for one that hangs
    if (pace_ == 0) return;
    const std::chrono::duration<double> wanted(launch_.total_us() * 1e-6 * pace_);
    std::this_thread::sleep_until(
        started_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::min(wanted, kMost)));
  }

  bool keeps_commands() const { return timeline_ != nullptr || record_ != nullptr; }

  // How far networks of this precision were off on this chip.
  void add_trust() {
    launch_.precision = products_.name();
    const Fit* fit = fitted_ ? Fit::find(clock_->model().chip()) : nullptr;
    const FitError* error = fit != nullptr ? fit->error_of(launch_.precision, launch_.cores) : nullptr;
    if (error != nullptr) launch_.error = *error;
  }

  std::size_t index_of(Op op) {
    const CallStack stack = capture_call_stack();
    std::vector<const void*> frames(stack.frames.begin(), stack.frames.begin() + stack.count);
    const auto [place, is_new] = call_index_.emplace(std::pair(op, std::move(frames)), launch_.calls.size());
    if (is_new) launch_.calls.push_back({op, stack, {}, 0, 0, 0, 0, 0, {}});
    return place->second;
  }

  // What this core waits for others counts at the call that waits.
  void account_meeting(Op op) {
    const double waited = clock_->waited_for_cores_us();
    if (waited <= 0) return;
    CallTime& call = launch_.calls[index_of(op)];
    ++call.commands;
    call.waited_us += waited;
    launch_.waited_for_cores_us += waited;
  }

  std::size_t account(Op op, const CommandCost& cost, const EngineSlot& placed) {
    const std::size_t index = index_of(op);
    CallTime& call = launch_.calls[index];
    ++launch_.commands;
    ++call.commands;
    call.engine_us += cost.engine_us();
    call.waited_us += placed.waited_us;
    call.operations += cost.operations;
    call.ideal_us += cost.ideal_us;
    launch_.operations += cost.operations;
    launch_.ideal_us += cost.ideal_us;
    for (std::size_t i = 0; i < kBytePaths; ++i) {
      call.bytes[i] += cost.bytes[i];
      launch_.bytes[i] += cost.bytes[i];
    }
    return index;
  }

  void map_local_memory(const Command& command, const EngineSlot& placed, std::size_t call) {
    const auto visit = [&](Access access, const char* name, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr) return;
      if (access != Access::kWrite) launch_.local.read(clock_->model().chip(), *tensor, placed.end_us);
      if (access != Access::kRead) {
        launch_.local.write(clock_->model().chip(), *tensor, placed.start_us, placed.end_us, call, name);
      }
    };
    for_each_operand(command, visit);
  }

  void report() {
    // Programs may launch a kernel a thousand times: one report for each estimate.
    const bool is_new = printed_.emplace(launch_.kernel, launch_.commands, launch_.total_us()).second;
    const bool print = print_ && is_new;
    if (print || keeps_commands()) name_places();
    if (print || record_) launch_.advice = advice_.advise(launch_, clock_->model());
    if (timeline_) add_to_timeline();
    if (record_) record_->append_line(to_record(launch_, clock_->model()));
    if (!print) return;
    if (computes_nothing() && !std::exchange(noted_, true))
      std::fputs("softtpu: time: nothing is computed: what kernels would write keeps its bytes\n", stderr);
    std::fputs(to_text(launch_, clock_->model()).c_str(), stderr);
    std::fflush(stderr);
  }

  void add_to_timeline() {
    const TraceTracks tracks(device_, launch_.core);
    std::string events = to_timeline(launch_, tracks, begin_us_);
    if (!std::exchange(named_, true)) events = tracks.names(clock_->model().chip()) + ",\n" + events;
    timeline_->append_elements(events, fmt::format("launch {} of kernel \"{}\"", launch_.number, launch_.kernel));
  }

  void name_places() {
    for (CallTime& call : launch_.calls) {
      const SourceLine line = find_caller(call.stack);
      call.where = line.text();
      if (!lines_hint(line).empty()) log_warning(kNoLines);
    }
  }

  LaunchClock kernels_, networks_;
  LaunchClock* clock_ = &kernels_;  // of this launch
  bool print_, fitted_;
  PrecisionCount products_;  // of this launch
  std::uint32_t device_, pace_;
  std::chrono::steady_clock::time_point started_;
  std::unique_ptr<SharedFile> timeline_, record_;
  LaunchTime launch_;
  AdviceLog advice_;
  std::map<std::pair<Op, std::vector<const void*>>, std::size_t> call_index_;
  std::set<std::tuple<std::string, std::uint64_t, double>> printed_;
  std::optional<double> last_us_;
  double begin_us_ = 0, end_of_last_us_ = 0;
  bool named_ = false;  // the tracks of the timeline
  bool noted_ = false;  // that nothing is computed
};

}  // namespace

Result<std::shared_ptr<Observer>> make_time_observer(const Chip& chip, const TimeSettings& settings) {
  auto model = CostModel::make(chip, settings.preset);
  if (!model) return model.error();
  auto networks = CostModel::make_for_networks(chip, settings.preset);
  if (!networks) return networks.error();
  std::unique_ptr<SharedFile> timeline;
  std::unique_ptr<SharedFile> record;
  if (!settings.timeline_path.empty()) {
    auto file =
        SharedFile::create("SOFTTPU_TIMELINE", settings.timeline_path, SharedFile::Content::kJsonArray, settings.keep);
    if (!file) return file.error();
    timeline = std::move(*file);
  }
  if (!settings.record_path.empty()) {
    auto file =
        SharedFile::create("SOFTTPU_TIME_RECORD", settings.record_path, SharedFile::Content::kLines, settings.keep);
    if (!file) return file.error();
    record = std::move(*file);
  }
  std::shared_ptr<CoreClocks> clocks;
  if (chip.cores > 1) {
    auto made = CoreClocks::create();
    if (!made) return made.error();
    clocks = *std::move(made);
  }
  return std::shared_ptr<Observer>(std::make_shared<TimeObserver>(*std::move(model), *std::move(networks), settings,
                                                                  std::move(timeline), std::move(record), clocks));
}

}  // namespace softtpu
