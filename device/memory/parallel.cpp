#include "device/memory/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "device/memory/thread_team.hpp"

namespace softtpu {
namespace {

int thread_limit = 0;

// Never destroyed: workers may look for work for a moment after the program's end has begun.
ThreadTeam& team() {
  static ThreadTeam* const one = new ThreadTeam(1);
  if (thread_limit == 1) return *one;
  static ThreadTeam* const shared = new ThreadTeam(thread_limit > 0 ? thread_limit : tbb::task_arena::automatic);
  return *shared;
}

}  // namespace

void set_thread_limit(int threads) { thread_limit = threads; }
// Work of 0 steps has to be done in order: no setting shares it.
void set_parallel_threshold(std::int64_t steps) { parallel_detail::threshold = std::max<std::int64_t>(steps, 1); }

void start_all_threads() {
  if (thread_limit == 1) return;
  // Each waits for all others, so that no thread takes two turns; on a busy machine some may be late.
  std::atomic<int> here{0};
  const int threads = team().threads();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  parallel_for(threads, parallel_detail::threshold, [&](int) {
    ++here;
    while (here < threads && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  });
}

namespace parallel_detail {

std::int64_t threshold = kParallelSteps;

int threads() { return team().threads(); }

void run(int count, const void* body, void (*call)(const void* body, int first, int last)) {
  team().run(count, body, call);
}

}  // namespace parallel_detail
}  // namespace softtpu
