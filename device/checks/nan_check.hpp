// SOFTTPU_CHECK=nan: the first command of a launch whose result holds a NaN that none of its operands had, and the
// first with such an infinity. What a command only passes on is not reported,
// nor what a function of several commands makes and replaces.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/checks/shadow.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

// Both read the memories, which the race check closes to the kernel between commands: one observer looks at results
// before that check closes pages, the other at operands after it has opened them.
struct NanObservers {
  std::shared_ptr<Observer> results, operands;
};
NanObservers make_nan_check(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow);

}  // namespace softtpu
