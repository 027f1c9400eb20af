// SOFTTPU_CHECK=race: between tpu_parallel_start and tpu_parallel_end, GDMA, BDC and HAU run at the same time on the
// chip. Reports commands of different engines that touch the same bytes, one of them writing, without anything that
// orders them; and loads and stores of the kernel's own code in memory that an engine may still use.
#pragma once

#include <memory>

#include "device/checks/findings.hpp"
#include "device/core/observer.hpp"

namespace softtpu {

std::shared_ptr<Observer> make_race_check(std::shared_ptr<Findings> findings);
// `sees_loads`: what the kernel's own code reads is seen as well, by closing the pages that it may not read yet.
std::shared_ptr<Observer> make_processor_race_check(std::shared_ptr<Findings> findings, bool sees_loads);

}  // namespace softtpu
