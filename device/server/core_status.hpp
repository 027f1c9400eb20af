// What a core tells its server without a message: a page that both map. The server reads it when a core has died or hangs.
#pragma once

#include <atomic>
#include <cstdint>

namespace softtpu {

struct CoreStatus {
  std::atomic<std::uint64_t> running{0};        // sequence number of the item being worked on; 0: none
  std::atomic<std::uint64_t> completed{0};      // every item up to this one is finished
  std::atomic<std::uint64_t> flush_through{0};  // the server waits for this item: report it at once
  std::atomic<std::uint64_t> commands{0};       // commands that the core was given since it started
  std::atomic<std::uint64_t> launch_commands{0};  // value of `commands` when the running item began
  std::atomic<std::uint64_t> fault_address{0};
  std::atomic<bool> has_fault_address{false};
};

}  // namespace softtpu
