// SOFTTPU_CHECK=init: commands that read bytes that were never written.
#pragma once

#include <memory>

#include "device/checks/allocations.hpp"
#include "device/checks/findings.hpp"
#include "device/checks/shadow.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

// Without findings it only follows what is written.
std::shared_ptr<Observer> make_init_check(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow,
                                          std::shared_ptr<AllocationTable> allocations);

}  // namespace softtpu
