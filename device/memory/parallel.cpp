#include "device/memory/parallel.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <memory>

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

void parallel_for(int count, std::int64_t steps, const std::function<void(int)>& body) {
  if (steps < kParallelSteps || count < 2 || thread_limit == 1) {
    for (int i = 0; i < count; ++i) body(i);
    return;
  }
  arena().execute([&] {
    tbb::parallel_for(0, count, [&](int i) {
      const FpuScope modes;
      body(i);
    });
  });
}

}  // namespace softtpu
