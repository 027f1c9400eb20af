// Random programs for the HAU: values and indices lie in global memory.
#pragma once

#include <bit>

#include "tests/unit/move_fixture.hpp"

namespace softtpu {

class HauTest : public MoveTest {
 protected:
  std::uint32_t* words(std::uint64_t address) { return device.global<std::uint32_t>(address); }

  // A key that often repeats; no NaN, zero of either sign or subnormal among the floats.
  std::uint32_t key(Dtype type) {
    if (type != Dtype::kFp32)
      return static_cast<std::uint32_t>(between(-5, 5)) * static_cast<std::uint32_t>(coin() ? 1 : 0x11111111);
    return std::bit_cast<std::uint32_t>(static_cast<float>(2 * between(-6, 6) + 1) * (coin() ? 0.5F : 1e20F));
  }

  const std::uint64_t dst = device.scratch(), dst_index = dst + 8192, src = dst + 16384, src_index = dst + 24576;
};

}  // namespace softtpu
