// Runs of a tensor's bytes against its spans, one byte after the other.
#include "device/footprint/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/chip/chip.hpp"

namespace softtpu::runs_test {
namespace {

using Bytes = std::set<std::uint64_t>;

Bytes bytes_of_spans(const Chip& chip, const Tensor& tensor, SpanSpace& space) {
  Bytes bytes;
  for_each_span(chip, tensor, [&](const Span& span) {
    space = span.space;
    for (std::uint64_t byte = span.begin; byte < span.end; ++byte) bytes.insert(byte);
  });
  return bytes;
}

Bytes bytes_of_runs(const Chip& chip, const std::vector<LaneRun>& runs, SpanSpace space) {
  Bytes bytes;
  for (const LaneRun& run : runs) {
    for (std::uint64_t lanes = run.lanes; lanes != 0; lanes &= lanes - 1) {
      for (std::uint64_t byte = run.begin; byte < run.end; ++byte) {
        const bool is_new =
            bytes.insert(space == SpanSpace::kLocal ? place_in_lane(chip, byte, std::countr_zero(lanes)) : byte).second;
        EXPECT_TRUE(is_new) << "byte " << byte << " is in two runs of one lane";
      }
    }
  }
  return bytes;
}

class Runs : public ::testing::TestWithParam<int> {};

TEST_P(Runs, AreTheBytesOfTheSpans) {
  Chip chip = *load_chip("bm1684x");
  chip.npu_num = GetParam();
  chip.local_bytes = 4096;
  chip.local_mem.bytes = std::uint64_t{chip.local_bytes} * static_cast<unsigned>(chip.npu_num);
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  std::vector<LaneRun> runs;
  std::size_t fewer = 0;
  for (int i = 0; i < 1200; ++i) {
    Tensor tensor;
    constexpr Dtype kTypes[] = {Dtype::kInt8, Dtype::kFp16, Dtype::kFp32};
    tensor.dtype = kTypes[below(3)];
    tensor.space = below(3) > 0 ? Space::kLocal : Space::kSystem;
    tensor.shape = {1 + below(3), 1 + below(below(4) == 0 ? 3 * chip.npu_num : 5), 1 + below(4), 1 + below(6)};
    // Dense, apart, overlapping, repeated, and in any order of the dimensions.
    const auto stride = [&](int dense) { return below(3) == 0 ? below(12) : dense + below(2) * below(5); };
    tensor.stride.w = below(3) == 0 ? 1 + below(4) : 1;
    tensor.stride.h = stride(tensor.shape.w);
    tensor.stride.c = stride(tensor.shape.w * tensor.shape.h);
    tensor.stride.n = stride(tensor.shape.w * tensor.shape.h * 4);
    const bool local = tensor.space == Space::kLocal;
    const std::uint64_t lane = static_cast<unsigned>(below(chip.npu_num)) * std::uint64_t{chip.local_bytes};
    const std::uint64_t start = below(4) == 0 ? chip.local_mem.start + lane : chip.global_mem.start;
    tensor.addr = (local ? lane : start) + 4U * static_cast<unsigned>(below(64));
    SpanSpace wanted{};
    const Bytes bytes = bytes_of_spans(chip, tensor, wanted);
    const SpanSpace space = find_runs(chip, tensor, runs);
    ASSERT_EQ(space, wanted);
    ASSERT_EQ(bytes_of_runs(chip, runs, space), bytes) << to_text(Operand(tensor));
    EXPECT_TRUE(std::is_sorted(runs.begin(), runs.end(), [](const LaneRun& a, const LaneRun& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    }));
    fewer += local && tensor.shape.c > 1 && std::popcount(runs[0].lanes) > 1;
  }
  EXPECT_EQ(fewer > 200, GetParam() > 1) << "lanes with the same offsets are one run: " << fewer;
}

INSTANTIATE_TEST_SUITE_P(Npus, Runs, ::testing::Values(1, 4, 32, 64, 100),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace softtpu::runs_test
