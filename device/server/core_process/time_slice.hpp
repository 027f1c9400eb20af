// How long the system lets a thread run before others have their turn (its slice), which does not change how much of
// the processor it gets. A thread with a short one that wakes up goes before those with longer ones at once.
// Linux has such slices from 6.12 on; older systems ignore the request.
#pragma once

#include <chrono>

namespace softtpu {

// Of the calling thread, and of the threads and processes that it starts from now on. Only what the system shares out
// fairly among all has a slice; a thread with another policy keeps what it has.
void set_time_slice(std::chrono::nanoseconds slice);
// Zero: the system does not tell.
std::chrono::nanoseconds time_slice();
// A thread that wakes the calling thread, or one that it starts from now on, keeps its own turn (SCHED_BATCH).
// Where a slice could be set.
void let_wakers_go_on();

}  // namespace softtpu
