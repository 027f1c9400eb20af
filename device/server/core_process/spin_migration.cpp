#include "device/server/core_process/spin_migration.hpp"

#include <sched.h>

namespace softtpu {

void SpinMigration::avoid(int processor) {
  if (processor < 0 || ::sched_getcpu() != processor) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + kPause;
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(0, sizeof others, &others) != 0) return;
  ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace softtpu
