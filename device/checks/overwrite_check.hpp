// SOFTTPU_CHECK=memory: a command overwrites a part of a local tensor that is read again afterwards.
//
// A tensor is alive from the command that writes it. It is damaged when another command writes over some of its bytes
// and over others beside it; a command of the same function has to change them, since both may be tiles with rows in
// common. A command that then reads a part of the tensor gets elements of both writers, which cannot be intended.
// Silent are: writes inside the tensor (it is filled in pieces), writes over all of it (its bytes have a new owner),
// readers of more than the tensor, readers of the other tensor alone, and whatever depends on data.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_overwrite_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
