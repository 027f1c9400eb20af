// The stack that kernels run on: enough for large arrays, and an area below it in which nothing lies, so that a kernel
// that needs more stops at once instead of overwriting something.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/result.hpp"

namespace softtpu {

inline constexpr std::size_t kKernelStackBytes = std::size_t{64} << 20;
inline constexpr std::size_t kStackGuardBytes = std::size_t{64} << 20;

struct KernelStack {
  std::uint8_t* begin = nullptr;  // of the usable part; the guard area ends here

  // For a thread; it is never given back.
  static Result<KernelStack> create();
  bool overflows_at(std::uintptr_t address) const {
    const auto low = reinterpret_cast<std::uintptr_t>(begin);
    return address >= low - kStackGuardBytes && address < low;
  }
};

// Whether the hard limit of stacks leaves a core room for its own work: with less it ends while it starts.
Result<void> check_stack_limit();

// Lets the first thread of this process use as much, as far as the hard limit allows. The system keeps at least 128 MiB
// free below that thread's stack, which leaves it a guard area as well.
void enlarge_first_stack();

}  // namespace softtpu
