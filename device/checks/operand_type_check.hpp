// SOFTTPU_CHECK=constraint: operands that are read as another type than they were written as. Silent where bytes may be
// meant: copies move elements of one type as another of the same size, integers and floats take each other's bits, and
// a tensor of another shape may be other elements.
//
// Allocations whose type the host program has named (softtpu_note_type) hold that type, whatever a copy calls them.
#pragma once

#include <memory>

#include "device/checks/allocations.hpp"
#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_operand_type_check(std::shared_ptr<Findings> findings,
                                                  std::shared_ptr<AllocationTable> allocations);

}  // namespace softtpu
