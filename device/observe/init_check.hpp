// SOFTTPU_CHECK=init: commands that read bytes that were never written.
#pragma once

#include <memory>

#include "device/core/observer.hpp"
#include "device/observe/allocations.hpp"
#include "device/observe/findings.hpp"
#include "device/observe/shadow.hpp"

namespace softtpu {

// Without findings it only follows what is written.
std::shared_ptr<Observer> make_init_check(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow,
                                          std::shared_ptr<AllocationTable> allocations);

}  // namespace softtpu
