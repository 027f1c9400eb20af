// SOFTTPU_CHECK=bank: operands of one command, or of commands of different engines in one parallel section, that lie in
// the same memory bank.
#pragma once

#include <memory>

#include "device/core/observer.hpp"
#include "device/observe/findings.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_bank_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
