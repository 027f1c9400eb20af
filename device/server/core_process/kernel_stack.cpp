#include "device/server/core_process/kernel_stack.hpp"

#include <fmt/format.h>
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

Result<void> check_stack_limit() {
  constexpr rlim_t kLeastBytes = std::size_t{1} << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_max >= kLeastBytes) return {};
  return Error{ErrorKind::kResource,
               fmt::format("stacks are limited to {} KiB (ulimit -H -s), and a core of a device needs {} KiB at least; "
                           "kernels can use up to {} KiB. Start the program with a higher limit.",
                           limit.rlim_max >> 10, kLeastBytes >> 10, kKernelStackBytes >> 10)};
}

void enlarge_first_stack() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0) return;
  // An unlimited stack has no guard area: it would grow until it meets something.
  limit.rlim_cur = std::min<rlim_t>(kKernelStackBytes, limit.rlim_max);
  ::setrlimit(RLIMIT_STACK, &limit);
}

}  // namespace softtpu
