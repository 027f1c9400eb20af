// The order of the two instruction streams of a compiled network.
#include "device/instruction/order.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace softtpu::stream::stream_order_test {
namespace {

using testing::ElementsAre;

const Format& end_of(Unit unit) { return *InstructionSet::bm1684x().find(unit == Unit::kTiu ? "SYSID" : "sDMA_sys"); }

// A stream whose instruction i waits for the other unit's instruction waits[i], and its end.
std::vector<Instruction> stream_of(Unit unit, const std::vector<std::uint32_t>& waits) {
  const Format& format = *InstructionSet::bm1684x().find(unit == Unit::kTiu ? "sAR" : "DMA_tensor");
  std::vector<Instruction> stream;
  for (const std::uint32_t wait : waits) {
    Instruction instruction{&format, {}};
    instruction[Field::cmd_id] = stream.size() + 1;
    instruction[Field::cmd_id_dep] = wait;
    stream.push_back(instruction);
  }
  Instruction end{&end_of(unit), {}};
  if (unit == Unit::kTiu) end[Field::tsk_eu_typ] = 31;
  stream.push_back(end);
  return stream;
}

TEST(StreamOrder, DmaRunsAheadAsFarAsItMay) {
  const auto tiu = stream_of(Unit::kTiu, {1, 3});
  const auto dma = stream_of(Unit::kDma, {0, 0, 1, 2});
  const auto steps = order_streams(tiu, dma);
  ASSERT_TRUE(steps) << steps.error().text;
  EXPECT_THAT(*steps, ElementsAre(Step{Unit::kDma, 0}, Step{Unit::kDma, 1}, Step{Unit::kTiu, 0}, Step{Unit::kDma, 2},
                                  Step{Unit::kTiu, 1}, Step{Unit::kDma, 3}));
}

TEST(StreamOrder, EveryOrderKeepsEveryDependency) {
  const std::vector<std::uint32_t> tiu_waits{1, 1, 4, 4, 6};
  const std::vector<std::uint32_t> dma_waits{0, 0, 0, 1, 2, 2, 5};
  const auto tiu = stream_of(Unit::kTiu, tiu_waits);
  const auto dma = stream_of(Unit::kDma, dma_waits);
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto steps = order_streams(tiu, dma, seed);
    ASSERT_TRUE(steps) << steps.error().text;
    ASSERT_EQ(steps->size(), tiu_waits.size() + dma_waits.size());
    std::uint32_t done[2] = {0, 0};
    std::vector<std::uint32_t> units;
    for (const Step& step : *steps) {
      const auto unit = static_cast<std::uint32_t>(step.unit);
      const auto& waits = step.unit == Unit::kTiu ? tiu_waits : dma_waits;
      EXPECT_EQ(step.index, done[unit]);
      EXPECT_LE(waits[step.index], done[1 - unit]);
      ++done[unit];
      units.push_back(unit);
    }
    seen.insert(units);
  }
  EXPECT_GT(seen.size(), 3U) << "seeds do not change the order";
}

TEST(StreamOrder, ADependencyThatNeverComesIsNamed) {
  const auto tiu = stream_of(Unit::kTiu, {3});
  const auto dma = stream_of(Unit::kDma, {0, 1});
  const auto steps = order_streams(tiu, dma);
  ASSERT_FALSE(steps);
  EXPECT_EQ(
      steps.error().text,
      fmt::format("the streams wait for ever: TIU 1 at {} for DMA 3, of which there are 1; DMA 2 at {} for TIU 1, "
                  "of which there are 0.",
                  place_in(tiu, 0), place_in(dma, 1)));
  EXPECT_THAT(place_in(dma, 1), testing::MatchesRegex("offset [1-9][0-9]* \\(bytes [0-9a-f]{16}\\)"));
}

TEST(StreamOrder, NumbersThatDoNotFollowAreRefused) {
  auto tiu = stream_of(Unit::kTiu, {0, 0});
  tiu[1][Field::cmd_id] = 7;
  const auto steps = order_streams(tiu, stream_of(Unit::kDma, {}));
  ASSERT_FALSE(steps);
  EXPECT_EQ(steps.error().text, fmt::format("TIU stream, {}: instruction 2 has the number 7", place_in(tiu, 1)));
}

}  // namespace
}  // namespace softtpu::stream::stream_order_test
