// The instruction sets that tests of SIMD loops go through.
#pragma once

#include "device/memory/kernel_choice.hpp"

namespace softtpu {

// Whether the best instruction set of this machine and build is AVX2: a test of the best one would repeat the one of
// AVX2.
inline bool best_is_avx2() {
  const bool best = set_simd_limit("avx2") && !set_simd_limit("avx512");
  set_simd_limit("");
  return best;
}

}  // namespace softtpu
