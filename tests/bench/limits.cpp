// What this machine can do at best, measured beside each piece of work.
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "device/memory/parallel.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

int threads() { return static_cast<int>(std::thread::hardware_concurrency()); }

// Eight independent chains hide the latency; the compiler turns each into the machine's widest vectors.
using Lanes = float __attribute__((vector_size(64)));

__attribute__((noinline)) void chains(std::int64_t steps) {
  Lanes sums[8] = {};
  Lanes factor = Lanes{} + 0.999F;
  Lanes value = Lanes{} + 1.0F;
  for (std::int64_t i = 0; i < steps; ++i) {
    for (Lanes& sum : sums) sum = sum + value * factor;
    asm volatile("" : "+v"(factor), "+v"(value));
  }
  keep(sums);
}

constexpr double kFlopsPerStep = 8 * 16 * 2;

}  // namespace

void keep(const void* data) { asm volatile("" : : "g"(data) : "memory"); }

std::function<void()> memcpy_limit(std::size_t bytes) {
  struct Buffers {
    explicit Buffers(std::size_t size) : from(size, 1), to(size, 2) {}
    std::vector<char> from, to;
  };
  auto buffers = std::make_shared<Buffers>(bytes);
  return [buffers, bytes] {
    const std::size_t part = bytes / static_cast<std::size_t>(threads());
    parallel_for(threads(), static_cast<std::int64_t>(bytes), [&](int i) {
      std::memcpy(buffers->to.data() + static_cast<std::size_t>(i) * part,
                  buffers->from.data() + static_cast<std::size_t>(i) * part, part);
    });
    keep(buffers->to.data());
  };
}

std::function<void()> multiply_add_limit(double flops) {
  const auto steps = static_cast<std::int64_t>(flops / kFlopsPerStep / threads());
  return [steps] { parallel_for(threads(), steps * 128, [&](int) { chains(steps); }); };
}

}  // namespace softtpu::bench
