// Races between the cores of a launch: bytes of global memory or L2 that two of them touch, one of which writes, with
// nothing between that orders them. And what is wrong with what should order them: messages that no core waits for,
// meetings with unlike counts.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/chip/chip.hpp"
#include "device/core/observer.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// To be made before the cores, which share what it notes.
Result<std::shared_ptr<Observer>> make_core_race_check(std::shared_ptr<Findings> findings, const Chip& chip);

}  // namespace softtpu
