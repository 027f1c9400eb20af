// A hint for the processor in a loop that waits for another thread or process.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace softtpu {

inline void pause_processor() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");  // `yield` does nothing on most processors
#endif
}

}  // namespace softtpu
