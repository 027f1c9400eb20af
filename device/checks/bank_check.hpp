// SOFTTPU_CHECK=bank: operands of one command, or of commands of different engines in one parallel section, that lie in
// the same memory bank, where that costs a noticeable part of the launch. One note for each rule and kernel: of the
// calls that cost most, with the number of the others.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/chip/chip.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

// If the chip has no timing data, every conflict is reported.
std::shared_ptr<Observer> make_bank_check(std::shared_ptr<Findings> findings, const Chip& chip);

}  // namespace softtpu
