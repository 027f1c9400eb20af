// SOFTTPU_RECORD: keeps one launch of a device in a file, with all that it needs to run again. The server opens the
// file; the core that comes to the launch writes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/checks/allocations.hpp"
#include "device/checks/shadow.hpp"
#include "device/core/core.hpp"
#include "device/memory/shared_bytes.hpp"
#include "device/record/launch_record.hpp"

namespace softtpu {

class LaunchRecorder {
 public:
  struct Options {
    std::string path;
    std::uint64_t number = 1;  // of the launch to keep
    std::string chip;          // built-in name, or path of a description
    std::shared_ptr<AllocationTable> allocations;
    std::shared_ptr<Shadow> shadow;
  };
  static Result<std::shared_ptr<LaunchRecorder>> create(Options options);

  struct Launch {
    const std::string& kernel;
    const std::string& module;  // name
    int image;                  // descriptor of the module's file; -1: there is none
    std::span<const std::uint8_t> args;
  };
  // Counts the launch, and keeps it when it is the one.
  void begins(Core& core, const Launch& launch);
  void ends(const LaunchOutcome& outcome);

 private:
  LaunchRecorder(Options options, UniqueFd file, SharedBytes count);
  Result<void> keep(Core& core, const Launch& launch, std::uint64_t number);
  std::vector<RecordedAllocation> allocations(const Chip& chip) const;
  void give_up(const Error& error);

  Options options_;
  UniqueFd file_;
  SharedBytes count_;  // launches of all cores
  LaunchRecordWriter writer_;
  std::optional<std::vector<MemoryImage>> before_;  // while the launch runs
};

}  // namespace softtpu
