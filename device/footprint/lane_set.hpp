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
    return change(other, [](std::uint64_t a, std::uint64_t b) { return a | b; });
  }
  LaneSet& operator-=(const LaneSet& other) {
    return change(other, [](std::uint64_t a, std::uint64_t b) { return a & ~b; });
  }
  friend LaneSet operator&(const LaneSet& a, const LaneSet& b) {
    LaneSet both;
    for (auto one = a.begin(), other = b.begin(); one != a.end() && other != b.end();) {
      const std::uint64_t begin = std::max(one->begin, other->begin), end = std::min(one->end, other->end);
      if (begin < end) both.append({begin, end, one->lanes & other->lanes});
      ++(one->end < other->end ? one : other);
    }
    return both;
  }
  bool lies_within(const LaneSet& other) const {
    LaneSet outside = *this;
    outside -= other;
    return outside.empty();
  }

  // Adds a run that begins behind all others.
  void append(const LaneRun& run) {
    if (run.lanes == 0) return;
    if (!runs_.empty() && continues(runs_.back(), run)) {
      runs_.back().end = run.end;
    } else {
      runs_.push_back(run);
    }
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
  static bool continues(const LaneRun& run, const LaneRun& next) {
    return run.end == next.begin && run.lanes == next.lanes;
  }

  // The lanes of each stretch are what `keep` makes of those of both.
  template <class Keep>
  static LaneSet combine(const LaneSet& a, const LaneSet& b, Keep keep) {
    LaneSet result;
    result.runs_.reserve(a.runs_.size() + b.runs_.size());
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
      result.append({at, next, keep(lanes, other_lanes)});
      if (one != one_end && one->end == next) ++one;
      if (other != other_end && other->end == next) ++other;
    }
    return result;
  }

  // Only those runs are made anew that the other set may meet or continue.
  template <class Keep>
  LaneSet& change(const LaneSet& other, Keep keep) {
    if (other.empty()) return *this;
    const std::uint64_t begin = other.runs_.front().begin, end = other.runs_.back().end;
    const auto first =
        std::partition_point(runs_.begin(), runs_.end(), [&](const LaneRun& run) { return run.end < begin; });
    const auto last = std::partition_point(first, runs_.end(), [&](const LaneRun& run) { return run.begin <= end; });
    LaneSet met;
    met.runs_.assign(first, last);
    met = combine(met, other, keep);
    runs_.insert(runs_.erase(first, last), met.begin(), met.end());
    return *this;
  }

  void normalise() {
    const auto before = [](const LaneRun& a, const LaneRun& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    };
    if (!std::is_sorted(runs_.begin(), runs_.end(), before)) std::sort(runs_.begin(), runs_.end(), before);
    // Within the vector: sets of thousands of runs are made for each command.
    std::size_t count = 0;
    bool is_apart = true;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      LaneRun* const last = count > 0 ? &runs_[count - 1] : nullptr;
      if (last != nullptr && last->begin == runs_[i].begin && last->end == runs_[i].end) {
        last->lanes |= runs_[i].lanes;
        continue;
      }
      is_apart = is_apart && (last == nullptr || last->end <= runs_[i].begin);
      runs_[count++] = runs_[i];
    }
    runs_.resize(count);
    if (is_apart) {
      std::size_t kept = 0;
      for (const LaneRun& run : runs_) {
        if (run.lanes == 0) continue;
        if (kept > 0 && continues(runs_[kept - 1], run)) {
          runs_[kept - 1].end = run.end;
        } else {
          runs_[kept++] = run;
        }
      }
      runs_.resize(kept);
      return;
    }
    const auto middle = runs_.begin() + static_cast<std::ptrdiff_t>(runs_.size() / 2);
    LaneSet first({runs_.begin(), middle});
    first += LaneSet({middle, runs_.end()});
    *this = std::move(first);
  }

  std::vector<LaneRun> runs_;
};

}  // namespace softtpu
