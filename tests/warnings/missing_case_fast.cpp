// Loops for one instruction set after the other, in which a switch misses a case: may not compile (unless
// SOFTTPU_EVERY_CASE is defined).
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/warnings/missing_case_fast.cpp"
#include "device/memory/simd_targets.hpp"

#include <hwy/highway.h>

#ifndef SOFTTPU_PLANTED_KINDS
#define SOFTTPU_PLANTED_KINDS
enum class Kind : std::uint8_t { kOne, kTwo };
#endif

HWY_BEFORE_NAMESPACE();
namespace softtpu {
namespace HWY_NAMESPACE {

// Only in the turns in which the file includes itself: the last one is part of this file itself, where warnings were
// always given.
#if !SOFTTPU_NO_VECTORS
int number(Kind kind) {
  switch (kind) {
    case Kind::kOne: return 1;
#ifdef SOFTTPU_EVERY_CASE
    case Kind::kTwo: return 2;
#endif
  }
  return 0;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace softtpu
HWY_AFTER_NAMESPACE();
