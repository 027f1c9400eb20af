// The observers that the settings ask for: the one place where switches become observers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/checks/client_findings.hpp"
#include "device/checks/findings.hpp"
#include "device/checks/host_watch.hpp"
#include "device/chip/chip.hpp"
#include "device/core/observer.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

class LaunchRecorder;

// The observers of one device. The findings belong to all of its checks; null without checks.
struct DeviceObservers {
  std::vector<std::shared_ptr<Observer>> list;
  std::shared_ptr<Findings> findings;            // of the cores' checks
  std::shared_ptr<ClientFindings> clients;       // where the cores' findings go; null: the device is not shared
  std::shared_ptr<HostWatch> watch;              // null: the host program is not observed
  std::shared_ptr<AllocationTable> allocations;  // null without checks
  std::shared_ptr<Shadow> shadow;                // null: writes are not followed
  std::shared_ptr<LaunchRecorder> recorder;      // null: no launch is kept
  std::string schedule;                          // order of commands in parallel sections; empty: program order
  std::uint32_t schedules = 0;                   // runs of each launch that are compared; below 2: one run
  std::vector<std::uint32_t> core_counts;        // on so many cores launches on several are run again, and compared
  std::string gdb_socket;                        // empty: no debugger

  // Whether launches are run again with the memories as they were before.
  bool compares_runs() const { return schedules > 1 || !core_counts.empty(); }
  std::shared_ptr<Journal> journal;  // of `softtpu run`; null without
};

// The device that the observers are for.
struct ObserverScope {
  std::uint32_t device = 0;   // its number
  bool many_clients = false;  // findings go to the client that caused them
  bool keep_files = false;    // another device of the program has begun the trace and its like
};

// The observers of one device. Errors name the setting and what is wrong with it.
Result<DeviceObservers> make_observers(const Settings& settings, const Chip& chip, const ObserverScope& of = {});

}  // namespace softtpu
