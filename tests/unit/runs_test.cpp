// Runs of a tensor's bytes against its spans, one byte after the other.
#include "device/footprint/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/footprint/lane_set.hpp"

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

class Runs : public ::testing::TestWithParam<int> {
 protected:
  Runs() {
    chip.npu_num = GetParam();
    chip.local_bytes = 4096;
    chip.local_mem.bytes = std::uint64_t{chip.local_bytes} * static_cast<unsigned>(chip.npu_num);
  }
  int below(int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); }

  Chip chip = *load_chip("bm1684x");
  std::mt19937 random{static_cast<unsigned>(GetParam())};
};

TEST_P(Runs, AreTheBytesOfTheSpans) {
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
    for (int again = 0; again < 2; ++again) {
      const TensorRuns& kept = runs_of(chip, tensor);
      ASSERT_EQ(kept.space, space);
      ASSERT_EQ(kept.runs, runs);
      for (const LaneRun& run : runs) {
        ASSERT_TRUE(kept.hull.begin <= run.begin && run.end <= kept.hull.end && (run.lanes & ~kept.hull.lanes) == 0);
      }
    }
    ASSERT_EQ(space, wanted);
    ASSERT_EQ(bytes_of_runs(chip, runs, space), bytes) << to_text(Operand(tensor));
    EXPECT_TRUE(std::is_sorted(runs.begin(), runs.end(), [](const LaneRun& a, const LaneRun& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    }));
    fewer += local && tensor.shape.c > 1 && std::popcount(runs[0].lanes) > 1;
  }
  EXPECT_EQ(fewer > 200, GetParam() > 1) << "lanes with the same offsets are one run: " << fewer;
}

TEST_P(Runs, AreTheUsedBytes) {
  for (int i = 0; i < 400; ++i) {
    OperandUse use;
    use.role.lanes = below(4) == 0 ? 1 + below(8) : 0;
    use.role.last_channel = below(4) > 0 ? 1 + below(6) : 0;
    Tensor& tensor = use.tensor;
    tensor.dtype = below(2) == 0 ? Dtype::kInt8 : Dtype::kFp32;
    tensor.space = below(4) > 0 ? Space::kLocal : Space::kSystem;
    tensor.shape = {1 + below(3), 1 + below(below(2) == 0 ? 3 * chip.npu_num : 5), 1 + below(4) / 3, 1 + below(6)};
    tensor.stride.w = below(3) == 0 ? 2 : 1;
    tensor.stride.h = tensor.shape.w * tensor.stride.w + below(2);
    tensor.stride.c = tensor.stride.h * tensor.shape.h + below(5);
    tensor.stride.n = tensor.stride.c * 4;
    const std::uint64_t lane = static_cast<unsigned>(below(chip.npu_num)) * std::uint64_t{chip.local_bytes};
    tensor.addr =
        (tensor.space == Space::kLocal ? lane : chip.global_mem.start) + 4U * static_cast<unsigned>(below(64));
    Bytes wanted, bytes;
    for_each_used_span(chip, use, [&](const Span& span) {
      for (std::uint64_t byte = span.begin; byte < span.end; ++byte) wanted.insert(byte);
    });
    for_each_used_run(chip, use, [&](SpanSpace space, const LaneRun& run) {
      for_each_lane(chip, space, run, [&](const Span& span) {
        for (std::uint64_t byte = span.begin; byte < span.end; ++byte) bytes.insert(byte);
      });
    });
    ASSERT_EQ(bytes, wanted) << to_text(Operand(tensor)) << use.role.lanes << ' ' << use.role.last_channel;
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, Runs, ::testing::Values(1, 4, 32, 64, 100),
                         [](const auto& test) { return std::to_string(test.param); });

// Each byte in each lane.
using LaneBytes = std::set<std::pair<int, std::uint64_t>>;
LaneBytes bytes_of_set(const LaneSet& set) {
  LaneBytes bytes;
  std::uint64_t end = 0;
  for (const LaneRun& run : set) {
    EXPECT_TRUE(end <= run.begin && run.begin < run.end && run.lanes != 0);
    end = run.end;
    for (int lane = 0; lane < 64; ++lane) {
      for (std::uint64_t at = run.begin; at < run.end; ++at) {
        if ((run.lanes >> lane & 1) != 0) bytes.emplace(lane, at);
      }
    }
  }
  return bytes;
}

TEST(LaneSets, AreJoinedCutAndComparedByteByByte) {
  std::mt19937 random(7);
  const auto below = [&](unsigned limit) { return static_cast<std::uint64_t>(random() % limit); };
  int within = 0, empty = 0;
  for (int i = 0; i < 2000; ++i) {
    std::array<LaneSet, 2> sets;
    std::array<LaneBytes, 2> bytes;
    for (std::size_t which : {0U, 1U}) {
      std::vector<LaneRun> runs;
      for (std::uint64_t count = below(4); count > 0; --count) {
        const std::uint64_t begin = below(12);
        runs.push_back({begin, begin + 1 + below(4), below(2) == 0 ? std::uint64_t{7} << 61 : 1 + below(7)});
        for (int lane = 0; lane < 64; ++lane) {
          for (std::uint64_t at = begin; at < runs.back().end; ++at) {
            if ((runs.back().lanes >> lane & 1) != 0) bytes[which].emplace(lane, at);
          }
        }
      }
      sets[which] = LaneSet(runs);
      ASSERT_EQ(bytes_of_set(sets[which]), bytes[which]);
    }
    LaneBytes both, first, all = bytes[0];
    for (const auto& byte : bytes[0]) (bytes[1].contains(byte) ? both : first).insert(byte);
    all.insert(bytes[1].begin(), bytes[1].end());
    LaneSet joined = sets[0], cut = sets[0];
    ASSERT_EQ(bytes_of_set(joined += sets[1]), all);
    ASSERT_EQ(bytes_of_set(cut -= sets[1]), first);
    ASSERT_EQ(bytes_of_set(sets[0] & sets[1]), both);
    ASSERT_EQ(sets[0].lies_within(sets[1]), first.empty());
    ASSERT_EQ(sets[0].empty(), bytes[0].empty());
    within += first.empty() && !sets[0].empty();
    empty += sets[0].empty();
    if (sets[0].empty()) continue;
    const LaneRun front = sets[0].first_of_lane();
    const auto [lane, at] = *bytes[0].begin();
    ASSERT_EQ(front.lanes, std::uint64_t{1} << lane);
    ASSERT_EQ(front.begin, at);
    for (std::uint64_t byte = at; byte < front.end; ++byte) ASSERT_TRUE(bytes[0].contains({lane, byte}));
    ASSERT_FALSE(bytes[0].contains({lane, front.end}));
  }
  EXPECT_GT(within, 20);
  EXPECT_GT(empty, 50);
}

}  // namespace
}  // namespace softtpu::runs_test
