// The bytes of a tensor as few runs, in order, for checks that keep them in maps.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "device/footprint/spans.hpp"

namespace softtpu {

// How many lanes one run may stand for.
inline constexpr std::uint64_t kRunLanes = 64;

// [begin, end). Of local memory: offsets in a lane, the same in each lane of `lanes` (bits); those of the next 64 NPUs
// lie behind those of the first. Other memory is lane 0.
struct LaneRun {
  std::uint64_t begin = 0, end = 0, lanes = 1;
  bool operator==(const LaneRun&) const = default;
};

// Fills `runs` with the bytes that for_each_span() gives one by one, and says where they are. Runs of the same lanes
// are apart; runs of different lanes may overlap and are sorted by begin, then by end.
SpanSpace find_runs(const Chip& chip, const Tensor& tensor, std::vector<LaneRun>& runs);

// Where byte `joined` of a run lies in one of its lanes, as in Span.
std::uint64_t place_in_lane(const Chip& chip, std::uint64_t joined, int lane);

// Calls f(Span) for a run in each of its lanes. Their coordinates are not set.
template <class F>
void for_each_lane(const Chip& chip, SpanSpace space, const LaneRun& run, F f) {
  if (space != SpanSpace::kLocal) return f(Span{space, run.begin, run.end});
  for (std::uint64_t lanes = run.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t begin = place_in_lane(chip, run.begin, std::countr_zero(lanes));
    f(Span{space, begin, begin + (run.end - run.begin)});
  }
}

}  // namespace softtpu
