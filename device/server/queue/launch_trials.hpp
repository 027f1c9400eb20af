// Runs of a launch on several cores that are compared with it: on other numbers of cores (--cores), and with the order
// of its commands and of its cores changed (--schedules). Each begins with the memories as they were before the launch;
// what counts afterwards is what the launch itself has left. Lives on the server's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/observers/device_observers.hpp"
#include "device/record/memory_image.hpp"
#include "device/server/queue/group_launch.hpp"

namespace softtpu {

class LaunchTrials {
 public:
  struct Run {
    std::shared_ptr<GroupLaunch> group;
    std::uint32_t order = 0;  // "random:N" with N; 0: as the launch itself
    std::string name;         // "on 4 cores"
  };

  // The launch is about to begin. `cores`: the memories of all cores of the device.
  LaunchTrials(const DeviceObservers& observers, const std::vector<Memories*>& cores, const GroupLaunch& launch);

  // The launch has succeeded.
  void launch_ended();
  // The next run, with the memories put back; null after the last one, with the memories as the launch has left them.
  const Run* next();
  // It has ended.
  void ended(const Result<void>& outcome);

 private:
  void add_numbers(const GroupLaunch& launch);
  void add_orders(const GroupLaunch& launch);
  void report(const std::string& what, const std::optional<ReportedRange>& place);

  const DeviceObservers& observers_;
  const std::vector<Memories*> cores_;
  const std::string kernel_;
  std::vector<MemoryImage> before_, after_;  // global memory is the first
  std::vector<Run> runs_;
  std::size_t run_ = 0;  // counted from 1
  std::size_t launched_on_ = 1;
};

}  // namespace softtpu
