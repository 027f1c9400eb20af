// SOFTTPU_CHECK=memory: accesses of global memory outside of what the host program has allocated. (Local memory is
// guarded by the commands' own rules, whose violations the constraint check reports.)
#pragma once

#include <memory>

#include "device/checks/allocations.hpp"
#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_memory_check(std::shared_ptr<Findings> findings,
                                            std::shared_ptr<AllocationTable> allocations);

}  // namespace softtpu
