// The estimated time of one launch, command by command: what the cost model says of each, on engines that wait for each
// other as the launch's control commands order.
#pragma once

#include <memory>
#include <optional>

#include "device/observe/command_cost.hpp"
#include "device/observe/event_schedule.hpp"

namespace softtpu {

class LaunchClock {
 public:
  explicit LaunchClock(std::unique_ptr<CostModel> model) : model_(std::move(model)), schedule_(0, 0) {}

  void begin() { schedule_ = EventSchedule(model_->launch_us(), model_->section_us()); }
  struct Timed {
    CommandCost cost;
    Placed placed;
  };
  // nullopt: no engine works on the command.
  std::optional<Timed> add(Op op, const Command& command);

  const EventSchedule& schedule() const { return schedule_; }
  const CostModel& model() const { return *model_; }

 private:
  void order(Op op, const ControlCmd& control);

  std::unique_ptr<CostModel> model_;
  EventSchedule schedule_;
};

}  // namespace softtpu
