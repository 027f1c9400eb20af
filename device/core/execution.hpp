// How commands are carried out: which loops, which instruction set, how many threads. Results do not depend on any of
// it.
#pragma once

#include "runtime/base/config.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

// SOFTTPU_TIME=only and only-silent: commands are checked and shown to observers, and not carried out.
bool computes_nothing();

// For this process and the cores that it forks. An error when the machine lacks the instruction set.
Result<void> choose_execution(const Settings& settings);

}  // namespace softtpu
