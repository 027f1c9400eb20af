// How calls name memory: the C types of addresses, by the memory they point into, and an operand's place.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/isa/types.hpp"
#include "softtpu/kernel_common.h"

namespace softtpu {

template <Space kSpace>
using AddressIn = std::conditional_t<kSpace == Space::kLocal, local_addr_t, system_addr_t>;

// An operand of a copy as calls give it.
struct Side {
  Space space;
  std::uint64_t addr;
  const dim4* stride;
};

}  // namespace softtpu
