// The last commands that a core was given, in memory that outlives the core: a page which the server maps too. Written
// by the core's thread for each command, read only to explain how a core ended.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "device/engines/command.hpp"
#include "device/isa/op.hpp"

namespace softtpu {

class CommandRing {
 public:
  static constexpr std::size_t kKept = 8;
  // One place may hold half of a command that a signal has interrupted.
  static constexpr std::size_t kShown = kKept - 1;

  // Some nanoseconds: the command's own bytes are copied, nothing is formatted.
  template <class Cmd>
  void put(Op op, std::optional<Op> composite, const Cmd& cmd) {
    const std::uint64_t number = given_.load(std::memory_order_relaxed);
    Entry& entry = entries_[number % kKept];
    entry.op = op;
    entry.called = composite.value_or(op);
    entry.command.template emplace<Cmd>(cmd);
    given_.store(number + 1, std::memory_order_release);
  }

  // Commands so far, from all launches.
  std::uint64_t given() const { return given_.load(std::memory_order_acquire); }

  // One line for each of the last commands, oldest first, as far as they are kept and belong to the `count` given last.
  // The page may have been overwritten by a kernel: call it only where a crash is acceptable.
  std::vector<std::string> last_lines(std::uint64_t count) const;

 private:
  struct Entry {
    Op op{};
    Op called{};  // by the kernel: another where op is a step of it
    Command command;
  };
  // What a dead process left in shared memory must be readable as bytes.
  static_assert(std::is_trivially_copyable_v<Command> && std::is_trivially_destructible_v<Command>);

  std::atomic<std::uint64_t> given_{0};
  std::array<Entry, kKept> entries_;
};

// "dst 0x0 [1, 64, 28, 28] fp16, src0 ...": a command's operands in one line.
std::string operands_line(const Command& command);

}  // namespace softtpu
