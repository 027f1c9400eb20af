#include "device/footprint/runs.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace softtpu {
namespace {

struct Loop {
  int count;
  std::int64_t stride;  // bytes
};

// Sorts the runs from `first` on and joins those that touch or overlap.
void join_neighbours(std::vector<LaneRun>& runs, std::size_t first) {
  const auto before = [](const LaneRun& a, const LaneRun& b) { return a.begin < b.begin; };
  const auto begin = runs.begin() + static_cast<std::ptrdiff_t>(first);
  if (!std::is_sorted(begin, runs.end(), before)) std::sort(begin, runs.end(), before);
  std::size_t count = first;
  for (std::size_t i = first; i < runs.size(); ++i) {
    if (count > first && runs[i].begin <= runs[count - 1].end) {
      runs[count - 1].end = std::max(runs[count - 1].end, runs[i].end);
    } else {
      runs[count++] = runs[i];
    }
  }
  runs.resize(count);
}

// Elements of `size` bytes at all combinations of the loops. From the shortest stride on, loops whose steps are no
// longer than what lies side by side already make it longer; the others are walked from the longest stride on, so that
// most tensors give their runs in order.
void add_runs(std::uint64_t base, std::array<Loop, 4> loops, std::uint64_t size, std::uint64_t lanes,
              std::vector<LaneRun>& runs) {
  const std::size_t first = runs.size();
  for (Loop& loop : loops) {
    if (loop.count <= 0) return;
    if (loop.count == 1) loop.stride = 0;
    if (loop.stride >= 0) continue;
    base += static_cast<std::uint64_t>((loop.count - 1) * loop.stride);
    loop.stride = -loop.stride;
  }
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.stride < b.stride; });
  std::uint64_t length = size;
  for (Loop& loop : loops) {
    if (static_cast<std::uint64_t>(loop.stride) > length) break;
    length += static_cast<std::uint64_t>((loop.count - 1) * loop.stride);
    loop.count = 1;
  }
  const auto& [innermost, inner, outer, outermost] = loops;
  for (int i = 0; i < outermost.count; ++i) {
    for (int j = 0; j < outer.count; ++j) {
      for (int k = 0; k < inner.count; ++k) {
        for (int l = 0; l < innermost.count; ++l) {
          const std::uint64_t begin = base + static_cast<std::uint64_t>(i * outermost.stride + j * outer.stride +
                                                                        k * inner.stride + l * innermost.stride);
          if (runs.size() > first && runs.back().end == begin) {
            runs.back().end = begin + length;
          } else {
            runs.push_back({begin, begin + length, lanes});
          }
        }
      }
    }
  }
  join_neighbours(runs, first);
}

void join_lanes(std::vector<LaneRun>& runs) {
  const auto before = [](const LaneRun& a, const LaneRun& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  };
  if (!std::is_sorted(runs.begin(), runs.end(), before)) std::sort(runs.begin(), runs.end(), before);
  std::size_t count = 0;
  for (const LaneRun& run : runs) {
    if (count > 0 && runs[count - 1].begin == run.begin && runs[count - 1].end == run.end) {
      runs[count - 1].lanes |= run.lanes;
    } else {
      runs[count++] = run;
    }
  }
  runs.resize(count);
}

// Channels follow each other through the lanes from the tensor's own on, and begin a row of channels behind the last.
void add_local_runs(const Chip& chip, const Tensor& tensor, std::uint64_t size, std::vector<LaneRun>& runs) {
  const int first = chip.npu_of(tensor.addr), last = first + tensor.shape.c - 1;
  const auto bytes = [size](std::int64_t elements) { return elements * static_cast<std::int64_t>(size); };
  const Dim4& shape = tensor.shape;
  const Stride4& stride = tensor.stride;
  // Of the lanes of one group that have channels in the same rows.
  const auto add = [&](int group, int first_row, int last_row, std::uint64_t lanes) {
    if (lanes == 0 || last_row < first_row) return;
    const std::uint64_t base = chip.offset_of(tensor.addr) +
                               std::uint64_t{chip.local_bytes} * static_cast<unsigned>(group) +
                               static_cast<std::uint64_t>(bytes(std::int64_t{first_row} * stride.c));
    add_runs(base,
             {{{shape.n, bytes(stride.n)},
               {last_row - first_row + 1, bytes(stride.c)},
               {shape.h, bytes(stride.h)},
               {shape.w, bytes(stride.w)}}},
             size, lanes, runs);
  };
  // A lane may have none in the first row, and none in the last.
  constexpr int kGroup = static_cast<int>(kRunLanes);
  for (int group = 0; group * kGroup < chip.npu_num; ++group) {
    for (const bool in_first : {false, true}) {
      for (const bool in_last : {false, true}) {
        std::uint64_t lanes = 0;
        for (int lane = group * kGroup; lane < std::min(chip.npu_num, (group + 1) * kGroup); ++lane) {
          const bool same = (lane >= first) == in_first && (lane <= last % chip.npu_num) == in_last;
          if (same) lanes |= std::uint64_t{1} << lane % kGroup;
        }
        add(group, in_first ? 0 : 1, last / chip.npu_num - (in_last ? 0 : 1), lanes);
      }
    }
  }
}

// What is reached through the window of local memory has addresses there.
void split_by_lanes(const Chip& chip, std::vector<LaneRun>& runs) {
  std::vector<LaneRun> split;
  for (const LaneRun& run : runs) {
    for (std::uint64_t begin = run.begin; begin < run.end;) {
      const std::uint64_t end = std::min(run.end, (begin / chip.local_bytes + 1) * chip.local_bytes);
      split.push_back(run_of(chip, {SpanSpace::kLocal, begin, end}));
      begin = end;
    }
  }
  runs = std::move(split);
}

}  // namespace

SpanSpace find_runs(const Chip& chip, const Tensor& tensor, std::vector<LaneRun>& runs) {
  runs.clear();
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  const bool local = tensor.space == Space::kLocal;
  const bool window = tensor.space == Space::kSystem && chip.local_mem.contains(tensor.addr);
  const SpanSpace space = local || window                  ? SpanSpace::kLocal
                          : tensor.space == Space::kSystem ? SpanSpace::kSystem
                                                           : SpanSpace::kStatic;
  if (size == 0) return space;
  if (local) {
    add_local_runs(chip, tensor, size, runs);
  } else {
    const auto loop = [size](int count, std::int64_t stride) {
      return Loop{count, stride * static_cast<std::int64_t>(size)};
    };
    add_runs(window ? tensor.addr - chip.local_mem.start : tensor.addr,
             {loop(tensor.shape.n, tensor.stride.n), loop(tensor.shape.c, tensor.stride.c),
              loop(tensor.shape.h, tensor.stride.h), loop(tensor.shape.w, tensor.stride.w)},
             size, 1, runs);
    if (window) split_by_lanes(chip, runs);
  }
  if (space == SpanSpace::kLocal) join_lanes(runs);
  return space;
}

std::uint64_t hash_of(const Tensor& tensor) {
  // Products that do not wait for each other.
  const auto mix = [](std::int64_t a, std::int64_t b, std::uint64_t factor) {
    return (static_cast<std::uint64_t>(a) << 32 ^ static_cast<std::uint64_t>(b)) * factor;
  };
  const auto& [shape, stride] = std::tie(tensor.shape, tensor.stride);
  const std::uint64_t hash =
      mix(static_cast<int>(tensor.dtype), static_cast<std::int64_t>(tensor.addr), 0x9E3779B97F4A7C15) ^
      mix(shape.n, shape.c, 0xC2B2AE3D27D4EB4F) ^ mix(shape.h, shape.w, 0x165667B19E3779F9) ^
      mix(stride.n, stride.c, 0xD6E8FEB86659FD93) ^ mix(stride.h, stride.w, 0xA0761D6478BD642F);
  return hash >> 32;
}

const TensorRuns& runs_of(const Chip& chip, const Tensor& tensor) {
  struct Entry {
    Tensor tensor;
    std::tuple<int, std::uint32_t, std::uint64_t> lanes;  // what it depends on of the chip
    TensorRuns runs;
  };
  constexpr std::size_t kEntries = 1024;
  constexpr std::size_t kMostRuns = 256;  // of one that is kept
  thread_local std::vector<Entry> kept(kEntries);
  thread_local Entry large;
  Entry& place = kept[hash_of(tensor) % kEntries];
  const std::tuple lanes(chip.npu_num, chip.local_bytes, chip.local_mem.start);
  if (place.lanes == lanes && place.tensor == tensor) return place.runs;
  large.runs.space = find_runs(chip, tensor, large.runs.runs);
  const std::vector<LaneRun>& runs = large.runs.runs;
  LaneRun& hull = large.runs.hull;
  hull = runs.empty() ? LaneRun{0, 0, 0} : runs.front();
  for (const LaneRun& run : runs) {
    hull.end = std::max(hull.end, run.end);
    hull.lanes |= run.lanes;
  }
  if (runs.size() > kMostRuns) return large.runs;
  place = {tensor, lanes, large.runs};
  return place.runs;
}

LaneRun run_of(const Chip& chip, const Span& span) {
  // Local memory has less than 4 GB, and divisions of 64 bits take several times as long.
  const std::uint32_t npu = static_cast<std::uint32_t>(span.begin) / chip.local_bytes;
  const std::uint64_t moved = std::uint64_t{npu - npu / kRunLanes} * chip.local_bytes;
  return {span.begin - moved, span.end - moved, std::uint64_t{1} << npu % kRunLanes};
}

std::uint64_t place_in_lane(const Chip& chip, std::uint64_t joined, int lane) {
  const std::uint64_t group = joined / chip.local_bytes;
  return joined + (group * kRunLanes + static_cast<unsigned>(lane) - group) * chip.local_bytes;
}

}  // namespace softtpu
