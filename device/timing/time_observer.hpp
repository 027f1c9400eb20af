// SOFTTPU_TIME: estimates how long each launch would take on the chip, and says what it spends its time on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/core/observer.hpp"
#include "device/cost/timing_parameters.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

struct TimeSettings {
  TimingPreset preset = TimingPreset::kFull;
  bool print = true;          // a report of each launch to stderr; launches like the one before are not repeated
  std::string timeline_path;  // SOFTTPU_TIMELINE; empty: none
  std::string record_path;    // SOFTTPU_TIME_RECORD; empty: none
  std::uint32_t device = 0;
  std::uint32_t pace = 0;  // a launch takes at least so many times its estimate
  bool keep = false;       // another device of the program has begun the files
};

// Errors name the setting, or the parameter that the chip's description lacks.
Result<std::shared_ptr<Observer>> make_time_observer(const Chip& chip, const TimeSettings& settings);

}  // namespace softtpu
