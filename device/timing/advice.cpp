#include "device/timing/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <variant>

namespace softtpu {
namespace {

// Beyond so many commands nothing is kept: the launch would have to be timed again for each rule.
constexpr std::size_t kMostEvents = 200'000;
// Of advice that saves less than this part of the launch there would be no end.
constexpr double kNoticeable = 0.02;
constexpr std::uint64_t kFewCommands = 8;  // in a loop, not by chance
constexpr std::size_t kMostLoads = 256;    // that are remembered
constexpr double kMostlyFixed = 0.5;       // part of a call's time that is not its work
constexpr double kFewNpus = 0.5;

std::string place_of(const CallTime& call) {
  return call.where.empty() ? call.name() : fmt::format("{} at {}", call.name(), call.where);
}

// The tensor that most work is done on.
const Tensor* largest_result(const Command& command) {
  const Tensor* largest = nullptr;
  const auto visit = [&](Access access, const char*, const Operand& operand) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (tensor == nullptr || access == Access::kRead) return;
    if (largest == nullptr) largest = tensor;
  };
  for_each_operand(command, visit);
  return largest;
}

}  // namespace

bool AdviceLog::Range::meets(const Range& other) const {
  if (space != other.space) return false;
  return space == Space::kLocal ? box.meets(other.box) : begin < other.end && other.begin < end;
}

AdviceLog::Range AdviceLog::range_of(const Chip& chip, const Tensor& tensor) {
  Range range;
  const bool window = tensor.space == Space::kSystem && chip.local_mem.contains(tensor.addr);
  range.space = window ? Space::kLocal : tensor.space;
  if (range.space == Space::kLocal) {
    const auto box = window ? std::nullopt : box_of(chip, tensor);
    range.box = box.value_or(LocalBox{0, std::numeric_limits<std::uint32_t>::max(), 0, chip.npu_num});
    return range;
  }
  const Dim4& shape = tensor.shape;
  const Stride4& stride = tensor.stride;
  const auto size = static_cast<std::int64_t>(std::max(size_of(tensor.dtype), 1));
  std::int64_t low = 0, high = 0;
  const auto reach = [&](std::int64_t extent, std::int64_t step) {
    const std::int64_t last = std::max<std::int64_t>(extent - 1, 0) * step;
    (last < 0 ? low : high) += last;
  };
  reach(shape.n, stride.n);
  reach(shape.c, stride.c);
  reach(shape.h, stride.h);
  reach(shape.w, stride.w);
  range.begin = tensor.addr + static_cast<std::uint64_t>(low * size);
  range.end = tensor.addr + static_cast<std::uint64_t>((high + 1) * size);
  return range;
}

void AdviceLog::begin(int cores) {
  events_.clear();
  last_.clear();
  loads_.clear();
  whole_ = true;
  cores_ = cores;
}

// What is written makes commands that used those bytes worth repeating.
void AdviceLog::forget_written(const std::vector<Range>& writes, std::size_t but_call) {
  for (const Range& written : writes) {
    const auto meets = [&](const Range& other) { return other.meets(written); };
    for (std::size_t call = 0; call < last_.size(); ++call) {
      Last& last = last_[call];
      if (!last.valid) continue;
      const bool source = std::any_of(last.reads.begin(), last.reads.end(), meets);
      const bool result = call != but_call && std::any_of(last.writes.begin(), last.writes.end(), meets);
      if (source || result) last.valid = false;
    }
    for (Load& load : loads_) load.valid = load.valid && !load.range.meets(written);
  }
}

bool AdviceLog::is_repeated(const Chip& chip, const Command& command, std::size_t call) {
  if (last_.size() <= call) last_.resize(call + 1);
  const bool repeated = last_[call].valid && last_[call].command == command;
  std::vector<Range> reads, writes;
  const auto visit = [&](Access access, const char*, const Operand& operand) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (tensor == nullptr) return;
    if (access != Access::kWrite) reads.push_back(range_of(chip, *tensor));
    if (access != Access::kRead) writes.push_back(range_of(chip, *tensor));
  };
  for_each_operand(command, visit);
  forget_written(writes, call);
  const bool in_place = std::any_of(reads.begin(), reads.end(), [&](const Range& read) {
    return std::any_of(writes.begin(), writes.end(), [&](const Range& written) { return read.meets(written); });
  });
  last_[call] = {command, std::move(reads), std::move(writes), !in_place};
  return repeated;
}

bool AdviceLog::is_loaded_again(const Chip& chip, const Command& command, std::size_t call) {
  const Tensor* source = nullptr;
  bool to_local = false;
  const auto visit = [&](Access access, const char*, const Operand& operand) {
    const auto* tensor = std::get_if<Tensor>(&operand);
    if (tensor == nullptr) return;
    if (access == Access::kRead && tensor->space == Space::kSystem && chip.global_mem.contains(tensor->addr))
      source = tensor;
    if (access != Access::kRead) to_local = tensor->space == Space::kLocal;
  };
  for_each_operand(command, visit);
  if (source == nullptr || !to_local) return false;
  for (const Load& load : loads_) {
    if (load.valid && load.call == call && load.source == *source) return true;
  }
  if (loads_.size() < kMostLoads) loads_.push_back({*source, range_of(chip, *source), call, true});
  return false;
}

void AdviceLog::add(const CostModel& model, Op op, const Command& command, const LaunchClock::Timed& timed,
                    std::size_t call) {
  if (events_.size() >= kMostEvents) whole_ = false;
  if (!whole_) return;
  const Chip& chip = model.chip();
  Event event{std::nullopt, op, timed.placed.queue, timed.cost, call, false, false, 1, false};
  const bool loaded_again = is_loaded_again(chip, command, call);
  event.repeats = is_repeated(chip, command, call);
  event.loads_again = loaded_again && !event.repeats;
  const Tensor* result = largest_result(command);
  if (result != nullptr && result->space == Space::kLocal) {
    const Dim4& shape = result->shape;
    // More channels than there are: the rows can be spread over the NPUs as well.
    const bool can_spread =
        shape.c < chip.npu_num && shape.n * shape.h * shape.w >= chip.npu_num / std::max(shape.c, 1);
    if (can_spread && info(op).engine == Engine::kBdc && !is_product(command))
      event.npus = static_cast<double>(shape.c) / chip.npu_num;
    event.fp32_product = is_product(command) && result->dtype == Dtype::kFp32;
  }
  events_.push_back(std::move(event));
}

void AdviceLog::add(Op op, const ControlCmd& control) {
  if (events_.size() >= kMostEvents) whole_ = false;
  if (!whole_) return;
  Event event;
  event.control = control;
  event.op = op;
  events_.push_back(std::move(event));
  // The control processor, or another core, may write now what no command shows.
  switch (control.action) {
    case ControlAction::kPoll:
    case ControlAction::kHauPoll:
    case ControlAction::kSync:
    case ControlAction::kWaitMessage:
      last_.clear();
      loads_.clear();
      return;
    case ControlAction::kInitialize:
    case ControlAction::kParallelStart:
    case ControlAction::kParallelEnd:
    case ControlAction::kSendMessage:
    case ControlAction::kAcquireLock:
    case ControlAction::kReleaseLock: return;
  }
}

double AdviceLog::total_us(const CostModel& model, const Change& change) const {
  EngineTimes times(model.launch_us(), model.section_us());
  if (change.apart) times.begin_section();
  bool seen = false;
  for (const Event& event : events_) {
    if (event.control) {
      if (!change.apart) order_engines(times, event.op, *event.control);
      continue;
    }
    const bool chosen = !change.call || *change.call == event.call;
    if (chosen && ((change.without_repeats && event.repeats) || (change.without_reloads && event.loads_again)))
      continue;
    CommandCost cost = event.cost;
    if (chosen && change.all_npus) cost.work_us *= event.npus;
    if (chosen && change.in_half && event.fp32_product) {
      cost.work_us *= model.peak_per_us(Dtype::kFp32) / model.peak_per_us(Dtype::kFp16);
    }
    if (chosen && change.joined) {
      if (seen) cost.start_us = cost.issue_us = 0;
      seen = true;
    }
    times.add(event.queue, cost);
  }
  if (change.apart) times.end_section();
  return times.end().us;
}

std::vector<Advice> AdviceLog::advise(const LaunchTime& launch, const CostModel& model) const {
  std::vector<Advice> list;
  if (!whole_ || events_.empty()) return list;
  const double as_it_is = total_us(model, {});
  const auto add = [&](const char* rule, const Change& change, std::optional<std::size_t> call, std::string text,
                       const char* about = "about") {
    const double saves = as_it_is - total_us(model, change);
    if (saves < kNoticeable * as_it_is) return;
    list.push_back({rule, fmt::format("{}, saves {} {:.1f} us", text, about, saves), saves, call});
  };
  struct Sums {
    std::uint64_t commands = 0, repeats = 0, reloads = 0;
    double fixed_us = 0, work_us = 0, idle_us = 0, kept_bytes = 0;
    bool fp32_product = false;
  };
  // What is kept must leave room for what is computed.
  const double room = static_cast<double>(model.chip().local_bytes) * model.chip().npu_num / 2;
  std::vector<Sums> sums(launch.calls.size());
  for (const Event& event : events_) {
    if (event.control) continue;
    Sums& sum = sums[event.call];
    ++sum.commands;
    sum.repeats += event.repeats ? 1 : 0;
    sum.reloads += event.loads_again ? 1 : 0;
    if (!event.loads_again && !event.repeats) sum.kept_bytes += event.cost.ddr_bytes();
    sum.fixed_us += std::max(event.cost.start_us, event.cost.issue_us);
    sum.work_us += event.cost.work_us;
    sum.idle_us += event.npus <= kFewNpus ? event.cost.work_us * (1 - event.npus) : 0;
    sum.fp32_product = sum.fp32_product || event.fp32_product;
  }
  for (std::size_t call = 0; call < sums.size(); ++call) {
    const Sums& sum = sums[call];
    const std::string place = place_of(launch.calls[call]);
    Change change;
    change.call = call;
    if (sum.repeats > 0) {
      Change without = change;
      without.without_repeats = true;
      add("repeated-work", without, call,
          fmt::format("{} repeats the same work {} times: move it out of the loop", place, sum.repeats + 1));
    }
    if (sum.reloads > 0 && sum.kept_bytes <= room) {
      Change without = change;
      without.without_reloads = true;
      add("loaded-again", without, call,
          fmt::format("{} loads bytes that it has loaded before, {} times: keep them in local memory", place,
                      sum.reloads));
    }
    if (sum.idle_us > 0) {
      Change spread = change;
      spread.all_npus = true;
      add("idle-npus", spread, call,
          fmt::format("{} uses less than half of the NPUs: spread its data over the channels", place));
    }
    const bool many = sum.commands - sum.repeats >= kFewCommands;
    if (many && sum.fixed_us > kMostlyFixed * (sum.fixed_us + sum.work_us)) {
      Change joined = change;
      joined.joined = true;
      add("small-commands", joined, call,
          fmt::format("{} is {} small commands: use larger tiles, or one command for a shape instead of a loop", place,
                      sum.commands),
          "at most");
    }
    if (sum.fp32_product && model.peak_per_us(Dtype::kFp16) > model.peak_per_us(Dtype::kFp32)) {
      Change half = change;
      half.in_half = true;
      add("narrow-type", half, call,
          fmt::format("{} computes in fp32: fp16 operands, where they are exact enough", place));
    }
  }
  Change apart;
  apart.apart = true;
  if (cores_ == 1)
    add("in-turn", apart, std::nullopt,
        "engines wait for each other: overlap copies and computing with tpu_parallel_start and two sets of buffers",
        "at most");
  const double fixed = launch.end.spent[static_cast<std::size_t>(Spent::kLaunch)];
  if (fixed > kMostlyFixed * launch.total_us()) {
    list.push_back(
        {"small-launch",
         fmt::format("the launch itself takes {:.0f} % of the time: give it more work at once, saves {:.1f} us for "
                     "each launch that another one takes over",
                     100 * launch.share(fixed), fixed),
         fixed, std::nullopt});
  }
  std::stable_sort(list.begin(), list.end(), [](const Advice& a, const Advice& b) { return a.saves_us > b.saves_us; });
  return list;
}

}  // namespace softtpu
