// The processor's modes in which C code runs: rounding, flushing of subnormals, masked exceptions, direction of string
// instructions. They are set back after everything that modules and kernels do, so every launch begins with those of a
// new process: results are bits.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#elif !defined(__aarch64__)
#error "softtpu knows the modes of x86-64 and aarch64"
#endif

#include <cstdint>

namespace softtpu {

// Some nanoseconds.
inline void reset_processor_state() {
#if defined(__x86_64__)
  constexpr unsigned kFreshCsr = 0x1F80;          // round to nearest, subnormals kept, exceptions masked
  constexpr std::uint16_t kFreshControl = 0x37F;  // the same of the x87 unit, with 64-bit mantissas
  // Direction flag and alignment check: both make code fault or copy backwards that is right.
  constexpr std::uint64_t kOddFlags = (1U << 10) | (1U << 18);
  if (_mm_getcsr() != kFreshCsr) _mm_setcsr(kFreshCsr);
  std::uint16_t control = 0, status = 0;
  // After MMX instructions every x87 register counts as used, which shows in neither word.
  __asm__ volatile("emms\n\tfnstcw %0\n\tfnstsw %1" : "=m"(control), "=m"(status) : : "st", "mm0");
  if (control != kFreshControl || status != 0) __asm__ volatile("fninit");
  const std::uint64_t flags = __builtin_ia32_readeflags_u64();
  if ((flags & kOddFlags) != 0) __builtin_ia32_writeeflags_u64(flags & ~kOddFlags);
#else
  // Round to nearest, subnormals and NaNs kept, no traps. fesetenv() leaves some of these bits as they are.
  std::uint64_t modes = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(modes)::"memory");
  if (modes != 0) __asm__ volatile("msr fpcr, xzr" ::: "memory");
  __asm__ volatile("msr fpsr, xzr" ::: "memory");
#endif
}

}  // namespace softtpu
