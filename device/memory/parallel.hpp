// Work spread over lanes (NPUs) or tiles by oneTBB. Results never depend on it: every index writes its own bytes.
#pragma once

#include <cstdint>
#include <functional>

namespace softtpu {

// Below this many element steps a command stays on the calling thread: starting workers costs about 5 us, which is the
// time that the element loops need for some 20,000 steps.
inline constexpr std::int64_t kParallelSteps = 32768;

// Calls body(i) for i in [0, count), on several threads when `steps` (all elements together) is worth it, each call
// with the chip's float modes set (FpuScope).
void parallel_for(int count, std::int64_t steps, const std::function<void(int)>& body);

// Number of threads that parallel_for may use; 0 = one per CPU (SOFTTPU_THREADS).
void set_thread_limit(int threads);

}  // namespace softtpu
