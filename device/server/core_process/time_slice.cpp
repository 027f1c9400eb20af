#include "device/server/core_process/time_slice.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace softtpu {
namespace {

// sched_attr of the system. Its own header and the C library's have the same name for it, and do not fit together.
struct Scheduling {
  std::uint32_t bytes = sizeof(Scheduling);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice_ns = 0;  // "runtime" of other policies
  std::uint64_t deadline_ns = 0, period_ns = 0;
};
static_assert(sizeof(Scheduling) == 48);

std::optional<Scheduling> read_scheduling() {
  Scheduling now;
  if (::syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0) return std::nullopt;
  return now;
}

template <class Change>
void change_scheduling(Change change) {
  auto wanted = read_scheduling();
  if (!wanted || (wanted->policy != SCHED_OTHER && wanted->policy != SCHED_BATCH)) return;
  wanted->bytes = sizeof *wanted;
  change(*wanted);
  ::syscall(SYS_sched_setattr, 0, &*wanted, 0);  // a request: where it is refused, nothing changes
}

}  // namespace

void set_time_slice(std::chrono::nanoseconds slice) {
  change_scheduling([&](Scheduling& wanted) { wanted.slice_ns = static_cast<std::uint64_t>(slice.count()); });
}

void let_wakers_go_on() {
  change_scheduling([](Scheduling& wanted) { wanted.policy = SCHED_BATCH; });
}

std::chrono::nanoseconds time_slice() {
  const auto now = read_scheduling();
  return std::chrono::nanoseconds(now ? now->slice_ns : 0);
}

}  // namespace softtpu
