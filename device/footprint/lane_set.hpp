// Bytes of a memory that a check remembers, in few runs.
#pragma once

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "device/footprint/operand_use.hpp"
#include "device/footprint/runs.hpp"

namespace softtpu {

// Runs in ascending order, none of which meets the next: each says in which lanes its bytes belong to the set. Tensors
// have thousands of rows, of which each command asks for all: one vector is many times as fast as a tree of them.
class LaneSet {
 public:
  LaneSet() = default;
  explicit LaneSet(std::vector<LaneRun> runs) : runs_(std::move(runs)) { normalise(); }

  bool empty() const { return runs_.empty(); }
  auto begin() const { return runs_.begin(); }
  auto end() const { return runs_.end(); }

  LaneSet& operator+=(const LaneSet& other) {
    return *this = combine(*this, other, [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
  LaneSet& operator-=(const LaneSet& other) {
    return *this = combine(*this, other, [](std::uint64_t a, std::uint64_t b) { return a & ~b; });
  }
  friend LaneSet operator&(const LaneSet& a, const LaneSet& b) {
    return combine(a, b, [](std::uint64_t one, std::uint64_t other) { return one & other; });
  }
  bool lies_within(const LaneSet& other) const {
    LaneSet outside = *this;
    outside -= other;
    return outside.empty();
  }

  // The first bytes of the first lane that has some, as a run of that lane alone. The set is not empty.
  LaneRun first_of_lane() const {
    int lane = static_cast<int>(kRunLanes);
    for (const LaneRun& run : runs_) lane = std::min(lane, std::countr_zero(run.lanes));
    LaneRun first{0, 0, std::uint64_t{1} << lane};
    for (const LaneRun& run : runs_) {
      if ((run.lanes & first.lanes) == 0) continue;
      if (first.end == 0) first.begin = first.end = run.begin;
      if (first.end != run.begin) break;
      first.end = run.end;
    }
    return first;
  }

 private:
  static void append(std::vector<LaneRun>& runs, const LaneRun& run) {
    if (run.lanes == 0) return;
    if (!runs.empty() && runs.back().end == run.begin && runs.back().lanes == run.lanes) {
      runs.back().end = run.end;
    } else {
      runs.push_back(run);
    }
  }

  // The lanes of each stretch are what `keep` makes of those of both.
  template <class Keep>
  static LaneSet combine(const LaneSet& a, const LaneSet& b, Keep keep) {
    LaneSet result;
    auto one = a.runs_.begin(), other = b.runs_.begin();
    const auto one_end = a.runs_.end(), other_end = b.runs_.end();
    for (std::uint64_t at = 0, next = 0; one != one_end || other != other_end; at = next) {
      std::uint64_t lanes = 0, other_lanes = 0;
      next = UINT64_MAX;
      if (one != one_end) {
        if (one->begin <= at) lanes = one->lanes;
        next = std::min(next, one->begin <= at ? one->end : one->begin);
      }
      if (other != other_end) {
        if (other->begin <= at) other_lanes = other->lanes;
        next = std::min(next, other->begin <= at ? other->end : other->begin);
      }
      append(result.runs_, {at, next, keep(lanes, other_lanes)});
      if (one != one_end && one->end == next) ++one;
      if (other != other_end && other->end == next) ++other;
    }
    return result;
  }

  void normalise() {
    const auto before = [](const LaneRun& a, const LaneRun& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    };
    if (!std::is_sorted(runs_.begin(), runs_.end(), before)) std::sort(runs_.begin(), runs_.end(), before);
    std::vector<LaneRun> joined;
    bool is_apart = true;
    for (const LaneRun& run : runs_) {
      if (!joined.empty() && joined.back().begin == run.begin && joined.back().end == run.end) {
        joined.back().lanes |= run.lanes;
        continue;
      }
      is_apart = is_apart && (joined.empty() || joined.back().end <= run.begin);
      joined.push_back(run);
    }
    if (is_apart) {
      runs_.clear();
      for (const LaneRun& run : joined) append(runs_, run);
      return;
    }
    const auto middle = joined.begin() + static_cast<std::ptrdiff_t>(joined.size() / 2);
    *this = LaneSet({joined.begin(), middle});
    *this += LaneSet({middle, joined.end()});
  }

  std::vector<LaneRun> runs_;
};

}  // namespace softtpu
