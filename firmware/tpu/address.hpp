// The C types of addresses, by the memory they point into.
#pragma once

#include <type_traits>

#include "device/isa/types.hpp"
#include "softtpu/kernel_common.h"

namespace softtpu {

template <Space kSpace>
using AddressIn = std::conditional_t<kSpace == Space::kLocal, local_addr_t, system_addr_t>;

}  // namespace softtpu
