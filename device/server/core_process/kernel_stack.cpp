#include "device/server/core_process/kernel_stack.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "runtime/transport/socket.hpp"

namespace softtpu {

Result<KernelStack> KernelStack::create() {
  void* area = ::mmap(nullptr, kStackGuardBytes + kKernelStackBytes, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (area == MAP_FAILED) return system_error(ErrorKind::kResource, "mmap of a kernel's stack");
  const KernelStack stack{static_cast<std::uint8_t*>(area) + kStackGuardBytes};
  if (::mprotect(stack.begin, kKernelStackBytes, PROT_READ | PROT_WRITE) != 0) {
    Error error = system_error(ErrorKind::kResource, "mprotect of a kernel's stack");
    ::munmap(area, kStackGuardBytes + kKernelStackBytes);
    return error;
  }
  return stack;
}

void enlarge_first_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return;
  // An unlimited stack has no guard area: it would grow until it meets something.
  limit.rlim_cur = std::min<rlim_t>(kKernelStackBytes, limit.rlim_max);
  ::setrlimit(RLIMIT_STACK, &limit);
}

}  // namespace softtpu
