// SOFTTPU_CHECK=constraint: calls whose result depends on a deviation (docs/deviations.md, deviations.def): the
// recorded emulator gives other numbers than softtpu.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_deviation_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
