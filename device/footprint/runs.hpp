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

// Equal for equal tensors.
std::uint64_t hash_of(const Tensor& tensor);

// Fills `runs` with the bytes that for_each_span() gives one by one, and says where they are. Runs of the same lanes
// are apart; runs of different lanes may overlap and are sorted by begin, then by end.
SpanSpace find_runs(const Chip& chip, const Tensor& tensor, std::vector<LaneRun>& runs);

// What find_runs() gives, with the bytes and lanes that hold all of it.
struct TensorRuns {
  SpanSpace space = SpanSpace::kLocal;
  std::vector<LaneRun> runs;
  LaneRun hull;
};

// Checks ask for the runs of one tensor one after the other, and of all tensors again in the next launch: the last ones
// are kept. Good until this thread's next call.
const TensorRuns& runs_of(const Chip& chip, const Tensor& tensor);

// Where byte `joined` of a run lies in one of its lanes, as in Span.
std::uint64_t place_in_lane(const Chip& chip, std::uint64_t joined, int lane);

// The other way round: a span of local memory, which lies in one NPU.
LaneRun run_of(const Chip& chip, const Span& span);

// Calls f(Span) for a run in each of its lanes. Their coordinates are not set.
template <class F>
void for_each_lane(const Chip& chip, SpanSpace space, const LaneRun& run, F f) {
  if (space != SpanSpace::kLocal) return f(Span{space, run.begin, run.end});
  const std::uint64_t first = place_in_lane(chip, run.begin, 0);
  for (std::uint64_t lanes = run.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t begin =
        first + std::uint64_t{chip.local_bytes} * static_cast<unsigned>(std::countr_zero(lanes));
    f(Span{space, begin, begin + (run.end - run.begin)});
  }
}

}  // namespace softtpu
