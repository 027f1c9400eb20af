#include "device/server/core_process/status_pages.hpp"

#include <new>

namespace softtpu {

Result<StatusPages> StatusPages::create() {
  auto memory = Mapping::create("a core's status", sizeof(CoreStatus), "softtpu-status");
  if (!memory) return memory.error();
  auto spare = Mapping::create("a core's progress", sizeof(CoreProgress), "softtpu-progress");
  if (!spare) return spare.error();
  StatusPages pages{std::move(*memory), std::move(*spare), nullptr, nullptr};
  pages.status = new (pages.status_memory.data()) CoreStatus;
  pages.spare = new (pages.spare_memory.data()) CoreProgress;
  return pages;
}

}  // namespace softtpu
