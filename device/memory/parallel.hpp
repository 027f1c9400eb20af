// Work spread over lanes (NPUs) or tiles by oneTBB. Results never depend on it: every index writes its own bytes.
#pragma once

#include <cstdint>

namespace softtpu {

// The threshold when nothing else is set: starting workers costs about 5 us, which is the time that the element loops
// need for some 20,000 steps (scripts/bench --filter threshold).
inline constexpr std::int64_t kParallelSteps = 32768;

namespace parallel_detail {
extern std::int64_t threshold;
int threads();
void run(int count, const void* body, void (*call)(const void* body, int first, int last));
}  // namespace parallel_detail

// Calls body(first, last) for parts of [0, count), on several threads when `steps` (all elements together; 0: in order)
// is worth it, each call with the chip's float modes set (FpuScope). Nothing is allocated.
template <class Body>
void parallel_ranges(int count, std::int64_t steps, const Body& body) {
  if (steps < parallel_detail::threshold || count < 2) return body(0, count);
  parallel_detail::run(
      count, &body, [](const void* called, int first, int last) { (*static_cast<const Body*>(called))(first, last); });
}

// As parallel_ranges, calling body(i) for each index.
template <class Body>
void parallel_for(int count, std::int64_t steps, const Body& body) {
  parallel_ranges(count, steps, [&](int first, int last) {
    for (int i = first; i < last; ++i) body(i);
  });
}

// How many threads share that many steps.
inline int threads_for(std::int64_t steps) {
  return steps < parallel_detail::threshold ? 1 : parallel_detail::threads();
}

// Starts every thread that parallel_for will ever use, so that any other one is not softtpu's.
void start_all_threads();

// Number of threads that may be used; 0 = one per CPU (SOFTTPU_THREADS).
void set_thread_limit(int threads);

// Below this many element steps a command stays on the calling thread (SOFTTPU_PARALLEL_STEPS; 0: none does).
void set_parallel_threshold(std::int64_t steps);

}  // namespace softtpu
