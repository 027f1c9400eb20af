// SOFTTPU_CHECK=constraint: operands whose type follows no argument, as the bias of a convolution, that were written as
// another type. Silent where the bytes may have been copied as they are: then the number of elements differs, or the
// size of an element does not.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_operand_type_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
