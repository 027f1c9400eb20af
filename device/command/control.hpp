// Commands that order other commands: sections, polls, barriers.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class ControlAction : std::uint8_t {
  kInitialize,
  kPoll,
  kHauPoll,
  kParallelStart,
  kParallelEnd,
  kSync,         // waits for engines, in or outside a parallel section, and for `count` cores at barrier `message`
  kSendMessage,  // an engine sends message `message`, for `count` waits
  kWaitMessage,  // an engine waits until message `message` was sent `count` times
  kAcquireLock,  // waits for lock `message`
  kReleaseLock,
};

// The count of a barrier of all cores of the launch.
inline constexpr int kAllCores = -1;

struct ControlCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  ControlAction action = ControlAction::kPoll;
  int message = 0;
  int count = 0;
  template <class F>
  void operands(F) const {}
  bool operator==(const ControlCmd&) const = default;
};

}  // namespace softtpu
