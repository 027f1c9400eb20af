// The estimated time of one launch, command by command: what the cost model says of each, on engines that wait for each
// other as the launch's control commands order.
#pragma once

#include <memory>
#include <optional>

#include "device/timing/command_cost.hpp"
#include "device/timing/core_clocks.hpp"
#include "device/timing/engine_times.hpp"

namespace softtpu {

// The engine that a synchronisation function names ("tpu_sync_all_bdc", "tpu_gdma_wait_msg"); none: all engines.
std::optional<Queue> queue_named_by(Op op);

// What a control command does to the times of a core's engines, other cores left aside.
void order_engines(EngineTimes& times, Op op, const ControlCmd& control);

class LaunchClock {
 public:
  explicit LaunchClock(std::unique_ptr<CostModel> model) : model_(std::move(model)), times_(0, 0) {}

  // The cores of a launch tell each other their times. Without, each is alone.
  void share(std::shared_ptr<CoreClocks> clocks) { clocks_ = std::move(clocks); }

  // At this time of the core on the device's timeline; the answer is that of all cores of the launch.
  double begin(double now_us = 0);
  // Before a command that may wait for other cores.
  void arrive(Op op, const ControlCmd& control);
  // After the last command: when the launch ends on all cores that have ended.
  double end();
  // How long the last command has waited for other cores.
  double waited_for_cores_us() const { return waited_us_; }
  struct Timed {
    CommandCost cost;
    EngineSlot placed;
  };
  // nullopt: no engine works on the command.
  std::optional<Timed> add(Op op, const Command& command);

  const EngineTimes& times() const { return times_; }
  const CostModel& model() const { return *model_; }

 private:
  void order(Op op, const ControlCmd& control);
  bool meets_others(const ControlCmd& control) const;

  std::unique_ptr<CostModel> model_;
  EngineTimes times_;
  std::shared_ptr<CoreClocks> clocks_;
  double ddr_us_ = 0;  // since all cores met last
  double waited_us_ = 0;
};

}  // namespace softtpu
