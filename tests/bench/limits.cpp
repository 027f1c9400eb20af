// What this machine can do at best, measured beside each piece of work. Compiled for this machine: Highway's vectors
// have its own width.
#include <hwy/highway.h>
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "device/engines/bdc/product/byte_kernels.hpp"
#include "device/memory/parallel.hpp"
#include "tests/bench/work.hpp"

namespace softtpu::bench {
namespace {

int threads() { return static_cast<int>(std::thread::hardware_concurrency()); }

namespace hn = hwy::HWY_NAMESPACE;

// Eight independent chains hide the latency.
using Lanes = hn::ScalableTag<float>;

__attribute__((noinline)) void chains(std::int64_t steps) {
  constexpr Lanes kLanes;
  hn::Vec<Lanes> sums[8];
  hn::Vec<Lanes> values[8];
  for (int j = 0; j < 8; ++j) sums[j] = values[j] = hn::Zero(kLanes);
  const auto factor = hn::Set(kLanes, 0.999F);
  for (std::int64_t i = 0; i < steps; ++i) {
    for (int j = 0; j < 8; ++j) {
      // The compiler may not know that the values stay the same, or it would multiply only once.
      asm volatile("" : "+v"(values[j].raw));
      sums[j] = hn::Add(sums[j], hn::Mul(values[j], factor));
    }
  }
  keep(sums);
}

constexpr double kFlopsPerStep = 8.0 * hn::MaxLanes(Lanes()) * 2;

// Twelve chains of 64-byte vectors of 8-bit products, for units that start two a cycle with a latency of five. Written
// out: a compiler sees that equal chains have equal sums, and would keep only one of them.
#ifdef __AVX512VNNI__
__attribute__((noinline)) void vnni_chains(std::int64_t steps) {
  if (steps < 1) return;
#define SOFTTPU_DOT(sum) "vpdpbusd %%zmm31, %%zmm30, %%zmm" #sum "\n\t"
  asm volatile(
      "1:\n\t" SOFTTPU_DOT(0) SOFTTPU_DOT(1) SOFTTPU_DOT(2) SOFTTPU_DOT(3) SOFTTPU_DOT(4) SOFTTPU_DOT(5) SOFTTPU_DOT(6)
          SOFTTPU_DOT(7) SOFTTPU_DOT(8) SOFTTPU_DOT(9) SOFTTPU_DOT(10) SOFTTPU_DOT(11) "dec %0\n\tjnz 1b"
      : "+r"(steps)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
#undef SOFTTPU_DOT
}
constexpr double kVnniPerStep = 12 * 64 * 2;
#endif

#ifdef __AVX2__
__attribute__((noinline)) void word_chains(std::int64_t steps) {
  __m256i sums[8] = {};
  __m256i left = _mm256_set1_epi8(3), right = _mm256_set1_epi8(5);
  const __m256i ones = _mm256_set1_epi16(1);
  for (std::int64_t i = 0; i < steps; ++i) {
    for (__m256i& sum : sums) {
      sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(left, right), ones));
      asm volatile("" : "+x"(left), "+x"(right));
    }
  }
  keep(sums);
}
constexpr double kWordsPerStep = 8 * 32 * 2;
#endif

// Nothing is held for rows that do not run.
struct Buffers {
  std::vector<char> from, to;
};

// `step` repeated on every thread for `operations` in all.
std::function<void()> on_all_threads(double operations, double per_step, void (*step)(std::int64_t)) {
  const auto steps = static_cast<std::int64_t>(operations / per_step / threads());
  return [steps, step] { parallel_for(threads(), kParallelSteps, [&](int) { step(steps); }); };
}

}  // namespace

void keep(const void* data) { asm volatile("" : : "g"(data) : "memory"); }

std::function<void()> memcpy_limit(std::size_t bytes) {
  auto buffers = std::make_shared<Buffers>();
  return [buffers, bytes] {
    if (buffers->to.empty()) *buffers = {std::vector<char>(bytes, 1), std::vector<char>(bytes, 2)};
    const std::size_t part = bytes / static_cast<std::size_t>(threads());
    parallel_for(threads(), static_cast<std::int64_t>(bytes), [&](int i) {
      std::memcpy(buffers->to.data() + static_cast<std::size_t>(i) * part,
                  buffers->from.data() + static_cast<std::size_t>(i) * part, part);
    });
    keep(buffers->to.data());
  };
}

std::function<void()> quarter_lines_limit(std::size_t bytes) {
  constexpr std::size_t kPiece = 16, kLine = 64;
  auto buffers = std::make_shared<Buffers>();
  return [=] {
    const std::size_t pieces = bytes / kPiece;
    if (buffers->to.empty()) *buffers = {std::vector<char>(bytes, 1), std::vector<char>(pieces * kLine, 2)};
    parallel_ranges(static_cast<int>(pieces), static_cast<std::int64_t>(bytes), [&](int first, int last) {
      char* to = buffers->to.data() + static_cast<std::size_t>(first) * kLine;
      const char* from = buffers->from.data() + static_cast<std::size_t>(first) * kPiece;
      for (int i = first; i < last; ++i, to += kLine, from += kPiece) std::memcpy(to, from, kPiece);
    });
    keep(buffers->to.data());
  };
}

void limit_by_loop(Work& work, RangeLoop loop, std::int64_t count) {
  work.limit = [loop, count] { loop(0, count); };
  work.shared_limit = [loop, count] {
    // Vectors of one thread do not reach into another's part.
    constexpr int kPart = 4096;
    const auto parts = static_cast<int>((count + kPart - 1) / kPart);
    parallel_ranges(parts, count, [&](int first, int last) {
      loop(std::int64_t{first} * kPart, std::min(count, std::int64_t{last} * kPart));
    });
  };
}

std::function<void()> multiply_add_limit(double flops) { return on_all_threads(flops, kFlopsPerStep, chains); }

NamedLimit dot_limit(double operations) {
#ifdef __AVX512VNNI__
  if (byte_kernels().turns_right)
    return {"8-bit dot products (VNNI)", on_all_threads(operations, kVnniPerStep, vnni_chains)};
#endif
#ifdef __AVX2__
  return {"pmaddubsw, pmaddwd, add", on_all_threads(operations, kWordsPerStep, word_chains)};
#else
  return {"f32 multiply then add", multiply_add_limit(operations)};
#endif
}

}  // namespace softtpu::bench
