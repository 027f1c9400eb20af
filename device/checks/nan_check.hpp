// SOFTTPU_CHECK=nan: the first command of a launch whose result holds a NaN that none of its operands had, and the
// first with such an infinity. What a command only passes on is told nowhere.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_nan_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
