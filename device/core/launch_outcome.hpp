// How a launch has ended on one core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/base/result.hpp"

namespace softtpu {

struct LaunchOutcome {
  bool ok = true;
  ErrorKind kind = ErrorKind::kUsage;
  std::string text;                    // the fault, complete sentences; empty when ok
  std::uint64_t commands = 0;          // commands that the launch issued
  std::optional<double> estimated_us;  // what an observer estimates for the chip
};

}  // namespace softtpu
