// What a stack is full of: for a signal handler, which must not allocate or lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device/server/core_process/core_status.hpp"

namespace softtpu {

// The stack of the calling thread, as far as it belongs to kernels.
struct StackExtent {
  std::uintptr_t base = 0;  // where it begins, above all frames
  std::uint64_t limit = 0;  // bytes that it may have; 0: not known

  // Whether an access to `address` failed because the stack, which ends at `pointer`, is used up.
  bool is_overflow(std::uintptr_t address, std::uintptr_t pointer) const;
};

struct StackUse {
  static constexpr std::size_t kPlaces = 8;
  std::array<FaultFrame, kPlaces> places{};  // those that use most, the largest first
  std::size_t count = 0;
};
// From the frame that a signal has interrupted outwards, as far as a tenth of a second goes.
StackUse measure_stack();

}  // namespace softtpu
