// Where operands of the HAU may lie.
#pragma once

#include <cstdint>

#include "device/command/checks.hpp"

namespace softtpu {

inline constexpr std::uint64_t kHauWordBytes = 4;

// HAU reaches global memory and L2 SRAM only.
void check_hau_place(Checks& check, const char* name, const Tensor& tensor, std::uint64_t alignment);

}  // namespace softtpu
