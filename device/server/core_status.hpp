// What a core tells its server without a message: a page that both map. The server reads it when a core has died or hangs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace softtpu {

// More than the launches that a core is given ahead.
inline constexpr std::size_t kEstimates = 1024;

struct CoreStatus {
  std::atomic<std::uint64_t> running{0};        // sequence number of the item being worked on; 0: none
  std::atomic<std::uint64_t> completed{0};      // every item up to this one is finished
  std::atomic<std::uint64_t> flush_through{0};  // the server waits for this item: report it at once
  std::atomic<std::uint64_t> commands{0};       // commands that the core was given since it started
  std::atomic<std::uint64_t> launch_commands{0};  // value of `commands` when the running item began
  std::atomic<std::uint64_t> fault_address{0};
  std::atomic<bool> has_fault_address{false};
  // Estimated nanoseconds of the launch with sequence number n at n % kEstimates; 0: none. Written before `completed`.
  std::array<std::atomic<std::uint64_t>, kEstimates> estimated_ns{};
};

}  // namespace softtpu
