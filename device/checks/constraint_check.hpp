// SOFTTPU_CHECK=constraint and portable: what the chip does not forgive. Refused commands by rule, with the nearest
// legal value; stack use; launches that end while engines work; more local memory than another chip has.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/checks/findings.hpp"
#include "device/chip/chip.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

// Findings of commands that the core refuses, for the rules of these checks.
std::shared_ptr<Observer> make_refusal_report(std::shared_ptr<Findings> findings, const std::set<std::string>& checks);
std::shared_ptr<Observer> make_constraint_check(std::shared_ptr<Findings> findings, std::uint64_t stack_limit);
std::shared_ptr<Observer> make_portability_check(std::shared_ptr<Findings> findings, std::vector<Chip> targets);

}  // namespace softtpu
