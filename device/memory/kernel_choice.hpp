// Which implementation of the heavy loops runs: the plain one, or the one with SIMD instructions. Both give the same
// bits. Set once at start (SOFTTPU_KERNELS, SOFTTPU_SIMD) or by tests; read by every command.
#pragma once

#include <string_view>

namespace softtpu {

void set_plain_kernels(bool plain);
bool plain_kernels();

// Limits the instruction set of the SIMD loops: "sse4", "avx2", "avx512" or "neon"; empty: the best that the machine
// has.
// False when the machine or this build lacks it (the best that there is is used).
bool set_simd_limit(std::string_view name);

}  // namespace softtpu
