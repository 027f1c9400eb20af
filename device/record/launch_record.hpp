// The file in which a launch is kept: everything that it begins with, and what came of it. README.md gives the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/record/memory_image.hpp"
#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/wire.hpp"

namespace softtpu {

struct RecordedRange {
  std::uint64_t begin = 0, end = 0;  // offsets
};

struct RecordedAllocation {
  std::uint64_t address = 0, bytes = 0;
  std::vector<RecordedRange> written;     // by the host program and by earlier launches
  std::vector<std::string> allocated_at;  // stack of the host program, innermost first
};

struct RecordedBlock {
  std::uint64_t offset = 0;
  Bytes bytes;
};

// A memory as MemoryImage keeps it.
struct RecordedMemory {
  std::string name;
  std::uint64_t start = 0, bytes = 0;
  std::vector<RecordedBlock> blocks;
};

// A launch without the contents of memories.
struct RecordedLaunch {
  std::string chip;                // built-in name, or the description itself (JSON)
  std::uint64_t global_bytes = 0;  // of this device
  std::uint32_t core = 0;
  std::uint64_t number = 0;  // of the device's launches, from 1
  std::string kernel;
  std::string module;  // what people know it by
  Bytes image;         // of the module
  Bytes args;
  std::vector<RecordedAllocation> allocations;
};

struct RecordedOutcome {
  bool ok = true;
  std::string text;  // of the failure
  std::uint64_t commands = 0;
};

struct LaunchRecord {
  RecordedLaunch launch;
  std::vector<RecordedMemory> before;
  std::optional<RecordedOutcome> outcome;  // nullopt: the kernel did not return
  std::vector<RecordedMemory> changed;     // the blocks that the launch has changed, as it left them
};

// Every length and every checksum is checked. Errors name the file and what is wrong with it.
Result<LaunchRecord> read_launch_record(const std::string& path);

// Writes a record into an open file in two steps, so that a launch that ends its core can be replayed as well.
class LaunchRecordWriter {
 public:
  explicit LaunchRecordWriter(int fd) : fd_(fd) {}
  Result<void> write_launch(const RecordedLaunch& launch, const std::vector<MemoryImage>& before);
  // `before` as in the first step.
  Result<void> write_outcome(const RecordedOutcome& outcome, const std::vector<MemoryImage>& before);

 private:
  int fd_;
  std::uint64_t launch_bytes_ = 0;
  Bytes launch_digest_;
};

}  // namespace softtpu
