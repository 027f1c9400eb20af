// Sleeping until another thread of this process has changed a number. std::atomic's wait() gives the processor away
// several times before it sleeps, each time for as long as the others' turns take.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

namespace softtpu {

// Returns at once when the word is not `seen` any more, and now and then without a reason.
inline void futex_wait(const std::atomic<int>& word, int seen) {
  static_assert(sizeof(word) == sizeof(int) && std::atomic<int>::is_always_lock_free);
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

inline void futex_wake_all(const std::atomic<int>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace softtpu
