// What functions that load coefficients have in common.
#pragma once

#include "device/chip/rules.hpp"
#include "firmware/call.hpp"

namespace softtpu {

// Where coefficients may go: to every NPU, from the first one on.
inline void check_coefficients(const Call& call, std::uint32_t addr) {
  const int npu = call.chip().npu_of(addr);
  if (call.chip().has(Quirk::kFirstNpuCoefficients))
    call.require(npu == 0, "{argument} starts on NPU {value}, it has to start on NPU {limit}.", "coeff", npu, 0);
}

}  // namespace softtpu
