// The machine's own limits, and what a second thread adds to them: what rows "two cores" can reach at best.
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

Work limit_alone(const char* name, double amount, const char* unit, std::function<void()> run) {
  Work work;
  work.group = "machine";
  work.name = name;
  work.amount = amount;
  work.unit = unit;
  work.run = std::move(run);
  work.large = work.machine = true;
  return work;
}

const bool added = add_work([] {
  constexpr double kOperations = 2.0 * 512 * 512 * 512;
  constexpr std::size_t kBytes = 4 << 20;
  const NamedLimit dots = dot_limit(kOperations);
  return std::vector<Work>{
      limit_alone("f32 multiply then add", kOperations / 1e9, "GFLOP", multiply_add_limit(kOperations)),
      limit_alone(dots.name, kOperations / 1e9, "GOP", dots.run),
      limit_alone("memcpy 4 MB", kBytes / 1e9, "GB", memcpy_limit(kBytes)),
  };
});

}  // namespace
}  // namespace softtpu::bench
