#include "device/memory/parallel.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "device/numeric/float_unit.hpp"

namespace softtpu {
namespace {

int thread_limit = 0;

tbb::task_arena& arena() {
  static tbb::task_arena shared(thread_limit > 0 ? thread_limit : tbb::task_arena::automatic);
  return shared;
}

}  // namespace

void set_thread_limit(int threads) { thread_limit = threads; }
void set_parallel_threshold(std::int64_t steps) { parallel_detail::threshold = steps; }

void start_all_threads() {
  if (thread_limit == 1) return;
  arena().execute([] {
    // Each waits for all others, so that no thread takes two turns; on a busy machine some may be late.
    const int threads = tbb::this_task_arena::max_concurrency();
    std::atomic<int> here{0};
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    tbb::parallel_for(
        0, threads,
        [&](int) {
          ++here;
          while (here < threads && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        },
        tbb::simple_partitioner());
  });
}

namespace parallel_detail {

std::int64_t threshold = kParallelSteps;

bool one_thread() { return thread_limit == 1; }

void run(int count, const void* body, void (*call)(const void* body, int first, int last)) {
  arena().execute([&] {
    tbb::parallel_for(tbb::blocked_range<int>(0, count), [&](const tbb::blocked_range<int>& range) {
      const FpuScope modes;
      call(body, range.begin(), range.end());
    });
  });
}

}  // namespace parallel_detail
}  // namespace softtpu
