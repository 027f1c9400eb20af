// Commands that order other commands: sections, polls, barriers.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

enum class ControlAction : std::uint8_t { kInitialize, kPoll, kHauPoll, kParallelStart, kParallelEnd };

struct ControlCmd {
  ControlAction action = ControlAction::kPoll;
  template <class F>
  void operands(F) const {}
  bool operator==(const ControlCmd&) const = default;
};

}  // namespace softtpu
