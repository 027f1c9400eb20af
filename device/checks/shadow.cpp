#include "device/checks/shadow.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "device/core/launch_page.hpp"

namespace softtpu {
namespace {

// Local memory, divided for what has to be done when a launch begins.
constexpr std::uint64_t kPartBytes = 512;
constexpr std::uint64_t kL2PartBytes = 1 << 12;
constexpr std::uint8_t kHasWritten = 1, kHasBad = 2, kWasBad = 4;

std::uint64_t offsets_of(const Chip& chip) {
  const std::uint64_t groups = (static_cast<unsigned>(chip.npu_num) + kRunLanes - 1) / kRunLanes;
  return groups * chip.local_bytes;
}

std::uint64_t part_count(const Chip& chip) { return (offsets_of(chip) + kPartBytes - 1) / kPartBytes; }

}  // namespace

Result<std::shared_ptr<Shadow>> Shadow::create(const Chip& chip) {
  std::shared_ptr<Shadow> shadow(new Shadow(chip));
  const auto cores = static_cast<unsigned>(chip.cores);
  const struct {
    SharedBytes* part;
    std::uint64_t bytes;
  } parts[] = {{&shadow->global_, chip.global_mem.bytes},
               {&shadow->l2_, chip.l2_sram.bytes},
               {&shadow->l2_parts_, (chip.l2_sram.bytes + kL2PartBytes - 1) / kL2PartBytes},
               {&shadow->lane_bits_, offsets_of(chip) * 3 * sizeof(std::uint64_t) * cores},
               {&shadow->states_, chip.local_mem.bytes * cores},
               {&shadow->parts_, part_count(chip) * cores},
               {&shadow->launch_, 1}};
  for (const auto& [part, bytes] : parts) {
    auto made = SharedBytes::create(bytes);
    if (!made) return made.error();
    *part = *std::move(made);
  }
  *shadow->launch_.data() = kFirstLaunch;
  return shadow;
}

bool Shadow::is_global(std::uint64_t address, std::uint64_t bytes) const {
  return chip_.global_mem.contains(address) && bytes <= chip_.global_mem.bytes - (address - chip_.global_mem.start);
}

std::size_t Shadow::own_core() { return static_cast<unsigned>(running_launch().core); }

Shadow::Lanes Shadow::lanes() const {
  const std::size_t core = own_core();
  const std::uint64_t offsets = offsets_of(chip_);
  auto* const bits = reinterpret_cast<std::uint64_t*>(lane_bits_.data()) + offsets * 3 * core;
  return {bits,
          bits + offsets,
          bits + offsets * 2,
          states_.data() + chip_.local_mem.bytes * core,
          parts_.data() + part_count(chip_) * core,
          offsets};
}

// Calls f(run, begin): the run of one lane, and where its bytes lie in local memory.
template <class F>
void Shadow::for_each_lane_part(const Span& span, F f) const {
  const std::uint64_t last = std::min(span.end, chip_.local_mem.bytes);
  for (std::uint64_t begin = span.begin, end = begin; begin < last; begin = end) {
    end = std::min(last, (begin / chip_.local_bytes + 1) * chip_.local_bytes);
    f(run_of(chip_, {SpanSpace::kLocal, begin, end}), begin);
  }
}

void Shadow::find_states(const Lanes& all, const LaneRun& run, std::uint64_t begin) const {
  const std::uint64_t lanes = run.lanes;
  std::uint64_t now = 0, any_bad = 0, all_bad = lanes;
  for (std::uint64_t at = run.begin; at < run.end; ++at) {
    now |= all.now[at];
    any_bad |= all.bad[at];
    all_bad &= all.bad[at];
  }
  // All bad: the states are there.
  if ((now & lanes) == 0 && all_bad != 0) return;
  std::uint8_t* const states = all.states + begin - run.begin;
  if (((now | any_bad) & lanes) == 0) {
    for (std::uint64_t at = run.begin; at < run.end; ++at)
      states[at] = (all.earlier[at] & lanes) != 0 ? kFirstLaunch : kUnknown;
    return;
  }
  const std::uint8_t own = own_launch_;
  // Without branches: written and unwritten bytes alternate where rows end.
  for (std::uint64_t at = run.begin; at < run.end; ++at) {
    const std::uint8_t before = (all.earlier[at] & lanes) != 0 ? kFirstLaunch : kUnknown;
    const std::uint8_t other = (all.bad[at] & lanes) != 0 ? states[at] : before;
    states[at] = (all.now[at] & lanes) != 0 ? own : other;
  }
}

std::uint8_t* Shadow::find(const Span& span) const {
  switch (span.space) {
    case SpanSpace::kLocal: {
      mark_waiting();
      const Lanes all = lanes();
      for_each_lane_part(span, [&](const LaneRun& run, std::uint64_t begin) { find_states(all, run, begin); });
      return all.states + span.begin;
    }
    case SpanSpace::kStatic: return nullptr;
    case SpanSpace::kSystem: break;
  }
  if (is_global(span.begin, span.end - span.begin)) return global(span.begin);
  if (chip_.l2_sram.contains(span.begin)) return l2_.data() + (span.begin - chip_.l2_sram.start);
  return nullptr;
}

bool Shadow::is_written(const LaneRun& run) const {
  mark_waiting();
  const Lanes all = lanes();
  const std::uint64_t end = std::min(run.end, all.offsets);
  constexpr std::uint64_t kBlock = 32;  // words, whose number has to be known for vectors
  std::uint64_t written = run.lanes, at = run.begin;
  for (; at + kBlock <= end && written == run.lanes; at += kBlock) {
    for (std::uint64_t i = 0; i < kBlock; ++i) written &= all.now[at + i];
  }
  for (; at < end; ++at) written &= all.now[at];
  return (written & run.lanes) == run.lanes;
}

void Shadow::mark_written(const LaneRun& run) {
  LaneRun& waiting = waiting_[own_core()];
  if (run.begin == waiting.begin && run.end == waiting.end) {
    waiting.lanes |= run.lanes;
    return;
  }
  mark_waiting();
  waiting = run;
}

void Shadow::mark_waiting() const {
  const auto [begin, last, lanes] = std::exchange(waiting_[own_core()], {});
  const Lanes all = this->lanes();
  const std::uint64_t end = std::min(last, all.offsets);
  if (begin >= end) return;
  for (std::uint64_t at = begin; at < end; ++at) all.now[at] |= lanes;
  for (std::uint64_t part = begin / kPartBytes; part <= (end - 1) / kPartBytes; ++part) all.parts[part] |= kHasWritten;
}

void Shadow::mark_bad(const Span& span, std::uint8_t state) {
  mark_waiting();
  const Lanes all = lanes();
  for_each_lane_part(span, [&](const LaneRun& run, std::uint64_t begin) {
    std::memset(all.states + begin, state, run.end - run.begin);
    const std::uint64_t lanes = run.lanes;
    for (std::uint64_t at = run.begin; at < run.end; ++at) {
      all.now[at] &= ~lanes;
      all.bad[at] |= lanes;
    }
    for (std::uint64_t part = run.begin / kPartBytes; part <= (run.end - 1) / kPartBytes; ++part)
      all.parts[part] |= kHasBad;
  });
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t end = address + bytes;
  const std::uint64_t first = std::min((address + page - 1) / page * page, end);
  const std::uint64_t last = std::max(end / page * page, first);
  std::memset(global(address), kUnknown, first - address);
  std::memset(global(last), kUnknown, end - last);
  // Gives the pages back; they read as zero.
  if (last > first && ::madvise(global(first), last - first, MADV_REMOVE) != 0) {
    std::memset(global(first), kUnknown, last - first);
  }
}

void Shadow::mark_allocated(std::uint64_t address, std::uint64_t bytes) {
  std::memset(global(address), kUnwritten, bytes);
}

void Shadow::mark_written(std::uint64_t address, std::uint64_t bytes) {
  std::memset(global(address), kLastLaunch, bytes);
}

void Shadow::mark_written(const Span& span) {
  if (span.end <= span.begin) return;
  if (is_global(span.begin, span.end - span.begin)) return mark_written(span.begin, span.end - span.begin);
  if (!chip_.l2_sram.contains(span.begin)) return;
  const std::uint64_t first = span.begin - chip_.l2_sram.start;
  const std::uint64_t end = std::min(span.end - chip_.l2_sram.start, chip_.l2_sram.bytes);
  std::memset(l2_.data() + first, own_launch_, end - first);
  for (std::uint64_t part = first / kL2PartBytes; part <= (end - 1) / kL2PartBytes; ++part)
    l2_parts_.data()[part] = kHasWritten;
}

// What is tainted counts as an earlier launch's from now on, and what was written over is neither stale nor tainted.
void Shadow::forget_bad(const Lanes& all, std::uint64_t part) {
  const std::uint64_t first = part * kPartBytes, last = std::min(first + kPartBytes, all.offsets);
  std::uint64_t bad = 0, stale = 0;
  for (std::uint64_t at = first; at < last; ++at) bad |= all.bad[at] &= ~all.now[at];
  // A part lies in one NPU of each lane.
  for (std::uint64_t lanes = bad; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t lane = lanes & -lanes;
    const std::uint8_t* const states = all.states + place_in_lane(chip_, first, std::countr_zero(lane));
    for (std::uint64_t at = first; at < last; ++at) {
      const std::uint64_t tainted = is_taint(states[at - first]) ? all.bad[at] & lane : 0;
      all.earlier[at] |= tainted;
      all.bad[at] ^= tainted;
    }
  }
  for (std::uint64_t at = first; at < last; ++at) stale |= all.bad[at];
  all.parts[part] = stale != 0 ? kWasBad : 0;
}

void Shadow::begin_launch() {
  LaunchPage* const page = running_launch().page;
  own_launch_ = page == nullptr ? next_number() : static_cast<std::uint8_t>(page->agree(next_number()));
  *launch_.data() = own_launch_;
  mark_waiting();
  const Lanes all = lanes();
  for (std::uint64_t part = 0; part < part_count(chip_); ++part) {
    const std::uint8_t has = all.parts[part];
    if (has == 0 || has == kWasBad) continue;
    all.parts[part] = 0;
    if (has != kHasWritten) forget_bad(all, part);
    const std::uint64_t first = part * kPartBytes, last = std::min(first + kPartBytes, all.offsets);
    for (std::uint64_t at = first; at < last; ++at) all.earlier[at] |= std::exchange(all.now[at], 0);
  }
}

std::uint8_t Shadow::next_number() {
  const std::uint8_t number = *launch_.data();
  if (number < kLastLaunch) return static_cast<std::uint8_t>(number + 1);
  // Numbers run out: what was written in any launch becomes an earlier launch's.
  for (std::uint64_t part = 0; part < l2_parts_.bytes(); ++part) {
    if (l2_parts_.data()[part] == 0) continue;
    const std::uint64_t end = std::min((part + 1) * kL2PartBytes, l2_.bytes());
    for (std::uint8_t* state = l2_.data() + part * kL2PartBytes; state < l2_.data() + end; ++state) {
      if (*state > kFirstLaunch) *state = kFirstLaunch;
    }
  }
  return kFirstLaunch + 1;
}

std::uint64_t find_other(const std::uint8_t* begin, std::uint64_t bytes, std::uint8_t value) {
  if (bytes == 0 || begin[0] != value) return 0;
  // Bytes are all the same when each is the next one's.
  constexpr std::uint64_t kBlock = 256;
  std::uint64_t at = 0;
  for (std::uint64_t block = 0; at + 1 < bytes; at += block) {
    block = std::min(kBlock, bytes - 1 - at);
    if (std::memcmp(begin + at, begin + at + 1, block) != 0) break;
  }
  while (at < bytes && begin[at] == value) ++at;
  return at;
}

}  // namespace softtpu
