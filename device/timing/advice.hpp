// What would make a launch faster, by the estimate: rules over its commands, each with what it saves. A saving is the
// difference between two runs of the time model: the launch as it is, and as it would be with the advice taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/footprint/local_map.hpp"
#include "device/timing/launch_clock.hpp"
#include "device/timing/launch_time.hpp"

namespace softtpu {

// The commands of one launch as the rules need them. Thread: the core's own.
class AdviceLog {
 public:
  void begin(int cores);
  // After a command; `timed` and `call` of one that an engine works on.
  void add(const CostModel& model, Op op, const Command& command, const LaunchClock::Timed& timed, std::size_t call);
  void add(Op op, const ControlCmd& control);
  // The largest saving first; only what saves a noticeable part of the launch.
  std::vector<Advice> advise(const LaunchTime& launch, const CostModel& model) const;

 private:
  // Bytes that a tensor touches at most: a box in local memory, or a range of another one.
  struct Range {
    Space space = Space::kLocal;
    LocalBox box;
    std::uint64_t begin = 0, end = 0;
    bool meets(const Range& other) const;
  };
  // What a call did last, as long as its operands and its result are still what they were then.
  struct Last {
    Command command;
    std::vector<Range> reads, writes;
    bool valid = false;
  };
  // A load from global memory whose source has not been written since.
  struct Load {
    Tensor source;
    Range range;
    std::size_t call = 0;
    bool valid = true;
  };
  struct Event {
    std::optional<ControlCmd> control;
    Op op{};
    Queue queue = Queue::kBdc;
    CommandCost cost;
    std::size_t call = 0;
    bool repeats = false;  // leaves the bytes that the same command has left before
    bool loads_again = false;
    double npus = 1;  // part of the NPUs that it uses
    bool fp32_product = false;
  };
  struct Change {
    bool without_repeats = false, without_reloads = false, all_npus = false, in_half = false, apart = false;
    bool joined = false;              // the commands of the call are one
    std::optional<std::size_t> call;  // of this call only
  };

  static Range range_of(const Chip& chip, const Tensor& tensor);
  bool is_repeated(const Chip& chip, const Command& command, std::size_t call);
  bool is_loaded_again(const Chip& chip, const Command& command, std::size_t call);
  void forget_written(const std::vector<Range>& writes, std::size_t but_call);
  double total_us(const CostModel& model, const Change& change) const;

  std::vector<Event> events_;
  std::vector<Last> last_;  // by call
  std::vector<Load> loads_;
  bool whole_ = true;  // every command is here
  int cores_ = 1;
};

}  // namespace softtpu
