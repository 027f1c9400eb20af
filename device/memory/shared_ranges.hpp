// The shared memories that this process has mapped: for a process that gives up those that are not its own, and for a
// server that must survive a fault in one. A list of its own, because a signal handler reads it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softtpu {

struct SharedRange {
  std::uint8_t* data = nullptr;
  std::uint64_t bytes = 0;
};

void note_shared_range(const SharedRange& range);
void forget_shared_range(const std::uint8_t* data);
// Read by a signal handler of the thread that maps and unmaps.
const std::vector<SharedRange>& shared_ranges();

// In a process that has been forked: unmaps all but those that hold one of these addresses.
void keep_shared_ranges(std::span<const void* const> kept);

}  // namespace softtpu
