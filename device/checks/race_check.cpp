#include "device/checks/race_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/icl/interval_map.hpp>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/footprint/lane_set.hpp"
#include "device/isa/message_engine.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

// Which command of the section (0: none) touched a byte last, and through which of the section's operands.
struct Touch {
  std::uint32_t command = 0;
  std::uint32_t operand = 0;
  bool operator==(const Touch&) const = default;
};

// Touches of the same bytes in the lanes of a LaneRun; a lane is in one part. Most operands have the same offsets in
// every lane, so that one entry of a map stands for all of them.
class LaneTouches {
 public:
  struct Part {
    Touch touch;
    std::uint64_t lanes = 0;
    bool operator==(const Part&) const = default;
  };

  LaneTouches() = default;
  LaneTouches(std::uint64_t lanes, Touch touch) : parts_{{touch, lanes}} {}
  const std::vector<Part>& parts() const { return parts_; }

  LaneTouches& operator-=(const LaneTouches& gone) {
    for (const Part& other : gone.parts_) {
      for (Part& part : parts_) part.lanes &= ~other.lanes;
    }
    std::erase_if(parts_, [](const Part& part) { return part.lanes == 0; });
    return *this;
  }
  // Later touches take the place of earlier ones.
  LaneTouches& operator+=(const LaneTouches& later) {
    *this -= later;
    for (const Part& other : later.parts_) {
      const auto same =
          std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) { return part.touch == other.touch; });
      if (same != parts_.end()) {
        same->lanes |= other.lanes;
      } else {
        parts_.push_back(other);
      }
    }
    return *this;
  }
  bool operator==(const LaneTouches&) const = default;

 private:
  std::vector<Part> parts_;
};
using Interval = boost::icl::right_open_interval<std::uint64_t>;
using TouchMap = boost::icl::interval_map<std::uint64_t, LaneTouches, boost::icl::partial_absorber, std::less,
                                          boost::icl::inplace_plus, boost::icl::inter_section, Interval>;

// One engine's accesses of the open section, per address space.
struct EngineAccesses {
  std::array<TouchMap, 3> reads, writes;
};

// How many commands of each engine have happened before a point in time.
using Clock = std::array<std::uint32_t, 4>;

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

struct SectionCommand {
  std::size_t engine;
  Clock seen;  // what its engine knew to have happened; of the engine itself, the command's own number
  Op op;
  CallStack stack;
  std::uint32_t first_operand, end_operand;
  std::uint32_t tick() const { return seen[engine]; }
};

struct SectionOperand {
  const char* name;
  bool writes;
  Tensor tensor;
};

// What holds all bytes that a command touches through one operand.
struct Area {
  Touch touch;
  std::uint32_t tick;  // of its engine
  bool writes;
  SpanSpace space;
  LaneRun hull;
};

constexpr std::array kEngines = {Engine::kBdc, Engine::kGdma, Engine::kSdma, Engine::kHau};

std::optional<std::size_t> index_of(Engine engine) {
  const auto found = std::find(kEngines.begin(), kEngines.end(), engine);
  if (found == kEngines.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kEngines.begin());
}

class RaceCheck final : public Observer {
 public:
  explicit RaceCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    close_section();
  }

  void after(Op op, const Command& command) override {
    if (const auto* control = std::get_if<ControlCmd>(&command)) {
      order(op, *control);
      return;
    }
    const auto engine = index_of(info(op).engine);
    if (!open_ || !engine) return;
    ++clocks_[*engine][*engine];
    const std::uint32_t first = operand_count();
    for_each_tensor(command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
      operands_.push_back({name, access != Access::kRead, tensor});
    });
    commands_.push_back({*engine, clocks_[*engine], op, capture_call_stack(), first, operand_count()});
    if (!is_suspicious_ && is_apart(commands_.back())) return;
    if (!std::exchange(is_suspicious_, true)) {
      for (std::uint32_t number = 1; number < commands_.size(); ++number) touch_all(number);
    }
    touch_all(static_cast<std::uint32_t>(commands_.size()));
  }

  void launch_ends(const std::string&) override {
    close_section();
    findings_->report();
  }

 private:
  void close_section() {
    open_ = false;
    forget();
  }

  // Everything so far has happened before whatever comes.
  void forget() {
    commands_.clear();
    operands_.clear();
    for (std::vector<Area>& areas : areas_) areas.clear();
    if (std::exchange(is_suspicious_, false)) engines_ = {};
    clocks_ = {};
    messages_.clear();
    reported_.clear();
  }

  // What comes is issued when one engine, or all of them, have done what they had.
  void waited(std::optional<std::size_t> engine) {
    if (!engine) return forget();
    const Clock done = clocks_[*engine];
    for (Clock& clock : clocks_) join(clock, done);
  }

  void order(Op op, const ControlCmd& control) {
    const auto engine = index_of(message_engine(op));
    switch (control.action) {
      case ControlAction::kParallelStart:
        forget();
        open_ = true;
        return;
      case ControlAction::kParallelEnd: return close_section();
      case ControlAction::kSendMessage:
        if (engine) join(messages_[control.message], clocks_[*engine]);
        return;
      case ControlAction::kWaitMessage:
        if (engine) join(clocks_[*engine], messages_[control.message]);
        return;
      case ControlAction::kAcquireLock:
      case ControlAction::kReleaseLock: return;
      case ControlAction::kInitialize: return forget();
      case ControlAction::kPoll:
      case ControlAction::kHauPoll:
      case ControlAction::kSync: return waited(index_of(polled_engine(op)));
    }
  }

  // ---- Whether there may be a race at all: bytes are followed one by one only from the first meeting on that nothing
  // orders, from the section's first command on. Right programs have none. ----

  bool is_apart(const SectionCommand& command) {
    for (std::uint32_t operand = command.first_operand; operand < command.end_operand; ++operand) {
      const auto& [name, writes, tensor] = operands_[operand];
      const TensorRuns& runs = runs_of(*chip_, tensor);
      const Area area{
          {static_cast<std::uint32_t>(commands_.size()), operand}, command.tick(), writes, runs.space, runs.hull};
      for (std::size_t other = 0; other < kEngines.size(); ++other) {
        if (other != command.engine && meets_unordered(area, tensor, other, command.seen[other])) return false;
      }
      areas_[command.engine].push_back(area);
    }
    return true;
  }

  // Commands of an engine up to the tick `known` come before.
  bool meets_unordered(const Area& area, const Tensor& tensor, std::size_t engine, std::uint32_t known) const {
    const std::vector<Area>& areas = areas_[engine];
    for (auto other = areas.rbegin(); other != areas.rend() && other->tick > known; ++other) {
      const LaneRun &a = area.hull, &b = other->hull;
      if (!(area.writes || other->writes) || area.space != other->space || (a.lanes & b.lanes) == 0) continue;
      if (a.begin >= b.end || b.begin >= a.end) continue;
      const LaneSet bytes(runs_of(*chip_, tensor).runs);
      if (!(bytes & LaneSet(runs_of(*chip_, operands_[other->touch.operand].tensor).runs)).empty()) return true;
    }
    return false;
  }

  // ---- Which bytes ----

  void touch_all(std::uint32_t number) {
    const SectionCommand& command = command_of({number, 0});
    for (std::uint32_t operand = command.first_operand; operand < command.end_operand; ++operand) {
      const TensorRuns& runs = runs_of(*chip_, operands_[operand].tensor);
      for (const LaneRun& run : runs.runs)
        touch_run(command.engine, operands_[operand].writes, runs.space, run, {number, operand});
    }
  }

  void touch_run(std::size_t engine, bool writes, SpanSpace space, const LaneRun& run, Touch self) {
    const auto memory = static_cast<std::size_t>(space);
    const Interval bytes(run.begin, run.end);
    for (std::size_t other = 0; other < kEngines.size(); ++other) {
      if (other == engine) continue;
      const auto look = [&](TouchMap& touches, bool earlier_writes) {
        if (touches.empty()) return;
        // What this write is ordered behind needs no further comparison: a later access that is ordered behind this
        // write is ordered behind that as well.
        const std::uint64_t ordered = compare(touches, run, space, self, earlier_writes, writes);
        if (ordered != 0 && writes) touches.subtract({bytes, LaneTouches(ordered, {})});
      };
      look(engines_[other].writes[memory], true);
      if (writes) look(engines_[other].reads[memory], false);
    }
    TouchMap& map = writes ? engines_[engine].writes[memory] : engines_[engine].reads[memory];
    map.add({bytes, LaneTouches(run.lanes, self)});
  }

  // The lanes in which something was found, all of it ordered before.
  std::uint64_t compare(const TouchMap& others, const LaneRun& run, SpanSpace space, Touch self, bool earlier_writes,
                        bool self_writes) {
    std::uint64_t found = 0, unordered = 0;
    const auto [begin, end] = others.equal_range(Interval(run.begin, run.end));
    for (auto at = begin; at != end; ++at) {
      for (const LaneTouches::Part& part : at->second.parts()) {
        const std::uint64_t lanes = part.lanes & run.lanes;
        if (lanes == 0) continue;
        found |= lanes;
        const SectionCommand& earlier = command_of(part.touch);
        if (command_of(self).seen[earlier.engine] >= earlier.tick()) continue;  // a message orders them
        unordered |= lanes;
        const std::uint64_t first = std::max(at->first.lower(), run.begin), last = std::min(at->first.upper(), run.end);
        const auto placed = [&](std::uint64_t byte) {
          return space == SpanSpace::kLocal ? place_in_lane(*chip_, byte, std::countr_zero(lanes)) : byte;
        };
        report(part.touch, self, space, placed(first), placed(last - 1) + 1, earlier_writes, self_writes);
      }
    }
    return found & ~unordered;
  }

  const SectionCommand& command_of(Touch touch) const { return commands_[touch.command - 1]; }
  std::uint32_t operand_count() const { return static_cast<std::uint32_t>(operands_.size()); }

  void report(Touch earlier, Touch self, SpanSpace space, std::uint64_t first, std::uint64_t last, bool earlier_writes,
              bool self_writes) {
    // One report for each pair of commands: the first bytes are enough to find it.
    const std::uint64_t pair = std::uint64_t{earlier.command} << 32 | self.command;
    if (std::find(reported_.begin(), reported_.end(), pair) != reported_.end()) return;
    reported_.push_back(pair);
    if (reported_.size() > 64) reported_.pop_front();
    const auto engine_name = [&](Touch touch) { return to_text(info(command_of(touch).op).engine); };
    Finding finding;
    finding.rule = earlier_writes ? (self_writes ? "race/waw" : "race/raw") : "race/war";
    finding.place = place_of(*chip_, space, first, last);
    finding.what = fmt::format("{} and {} touch the same bytes in one parallel section: {}", engine_name(earlier),
                               engine_name(self), finding.place->text());
    finding.calls = {party(earlier, earlier_writes, space, first), party(self, self_writes, space, first)};
    findings_->add(finding);
  }

  Party party(Touch touch, bool writes, SpanSpace space, std::uint64_t byte) const {
    const SectionCommand& command = command_of(touch);
    const SectionOperand& operand = operands_[touch.operand];
    return party_of(*chip_, {command.op, operand.name, writes, &operand.tensor}, space, byte, command.stack);
  }

  std::shared_ptr<Findings> findings_;
  const Chip* chip_ = nullptr;
  bool open_ = false;
  std::vector<SectionCommand> commands_;
  std::vector<SectionOperand> operands_;
  std::array<EngineAccesses, kEngines.size()> engines_;
  std::array<Clock, kEngines.size()> clocks_{};  // what each engine knows to have happened
  std::map<int, Clock> messages_;
  std::deque<std::uint64_t> reported_;
  std::array<std::vector<Area>, kEngines.size()> areas_;
  bool is_suspicious_ = false;  // engines_ is kept
};

}  // namespace

std::shared_ptr<Observer> make_race_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<RaceCheck>(std::move(findings));
}

}  // namespace softtpu
