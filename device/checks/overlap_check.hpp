// SOFTTPU_CHECK=constraint: commands whose destination overlaps a source without being in place. Such a
// command is carried out element by element here; on the chip its result depends on how many elements an engine reads
// before it writes the first (docs/overlap.md).
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_overlap_check(std::shared_ptr<Findings> findings);

}  // namespace softtpu
