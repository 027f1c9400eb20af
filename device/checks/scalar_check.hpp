// SOFTTPU_CHECK=constraint: constants whose bits do not fit the type that the command takes them for, and constants
// that were never set.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_scalar_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
