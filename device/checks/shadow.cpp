#include "device/checks/shadow.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "device/core/launch_page.hpp"

namespace softtpu {
namespace {

// Local memory, divided for what has to be done when a launch begins.
constexpr std::uint64_t kPartBytes = 128;
constexpr std::uint64_t kL2PartBytes = 1 << 12;
constexpr std::uint8_t kHasWritten = 1, kHasBad = 2, kWasBad = 4, kHasWhole = 8;

std::uint64_t offsets_of(const Chip& chip) {
  const std::uint64_t groups = (static_cast<unsigned>(chip.npu_num) + kRunLanes - 1) / kRunLanes;
  return groups * chip.local_bytes;
}

// Of a word with a bit for each lane of a run.
std::uint64_t word_bytes(const Chip& chip) { return chip.npu_num <= 8 ? 1 : chip.npu_num <= 32 ? 4 : 8; }

std::uint64_t part_count(const Chip& chip) { return (offsets_of(chip) + kPartBytes - 1) / kPartBytes; }

// Of one core: three for each offset, two for each part.
std::uint64_t lane_words(const Chip& chip) { return offsets_of(chip) * 3 + part_count(chip) * 2; }

// Loops over words, in blocks whose number is known, for vectors; parts of memory do not overlap.
template <class F>
void in_blocks(std::uint64_t count, F f) {
  constexpr std::uint64_t kBlock = 32;
  std::uint64_t at = 0;
  for (; at + kBlock <= count; at += kBlock) {
    for (std::uint64_t i = 0; i < kBlock; ++i) f(at + i);
  }
  for (; at < count; ++at) f(at);
}

template <class Word>
void add(Word* words, std::uint64_t count, Word bits) {
  if (bits == static_cast<Word>(~Word{0})) {
    std::memset(words, 0xFF, count * sizeof(Word));
    return;
  }
  in_blocks(count, [=](std::uint64_t i) { words[i] |= bits; });
}

template <class Word>
void take(Word* words, std::uint64_t count, Word bits) {
  in_blocks(count, [=](std::uint64_t i) { words[i] &= static_cast<Word>(~bits); });
}

template <class Word>
void take_each(Word* __restrict words, const Word* __restrict gone, std::uint64_t count) {
  in_blocks(count, [&](std::uint64_t i) { words[i] &= static_cast<Word>(~gone[i]); });
}

// Adds the bits of `from` to `to`, and clears them there.
template <class Word>
void move_each(Word* __restrict to, Word* __restrict from, std::uint64_t count) {
  in_blocks(count, [&](std::uint64_t i) { to[i] |= from[i]; });
  std::memset(from, 0, count * sizeof(Word));
}

// The bits that all words have.
template <class Word>
Word bits_of_all(const Word* words, std::uint64_t count) {
  constexpr std::uint64_t kBlock = 32;
  Word all = static_cast<Word>(~Word{0});
  std::uint64_t at = 0;
  for (; at + kBlock <= count; at += kBlock) {
    for (std::uint64_t i = 0; i < kBlock; ++i) all &= words[at + i];
  }
  for (; at < count; ++at) all &= words[at];
  return all;
}

// How many of the first words have all of the bits.
template <class Word>
std::uint64_t count_all(const Word* words, std::uint64_t count, Word bits) {
  constexpr std::uint64_t kBlock = 32;
  std::uint64_t at = 0;
  for (; at + kBlock <= count; at += kBlock) {
    Word all = bits;
    for (std::uint64_t i = 0; i < kBlock; ++i) all &= words[at + i];
    if (all != bits) break;
  }
  while (at < count && (words[at] & bits) == bits) ++at;
  return at;
}

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
               {&shadow->lane_bits_, lane_words(chip) * word_bytes(chip) * cores},
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

// A lane was written where its bit is set in the byte's word, or in that of the byte's part: tensors are large, and
// most of their parts are written as a whole.
template <class Word>
struct Shadow::Lanes {
  Word* now;      // written in this launch
  Word* earlier;  // in one before
  Word* bad;      // stale or tainted, unless written since
  Word *part_now, *part_earlier;
  std::uint8_t* states;  // of bad bytes; else what find() has put there
  std::uint8_t* parts;   // what there is in each kPartBytes offsets
  std::uint64_t offsets;

  static std::uint64_t part_of(std::uint64_t offset) { return offset / kPartBytes; }

  // Calls f(part, begin, end) for the pieces of [begin, end) that lie in one part each.
  template <class F>
  static void for_each_part(std::uint64_t begin, std::uint64_t end, F f) {
    for (std::uint64_t at = begin, next = at; at < end; at = next) {
      next = std::min(end, (part_of(at) + 1) * kPartBytes);
      f(part_of(at), at, next);
    }
  }

  bool is_now(std::uint64_t offset, Word lane) const { return ((now[offset] | part_now[part_of(offset)]) & lane) != 0; }

  // Of a byte that was not written in this launch; its own state if it is bad.
  std::uint8_t state_of(std::uint64_t offset, Word lane, std::uint8_t own) const {
    if ((bad[offset] & lane) != 0) return own;
    return ((earlier[offset] | part_earlier[part_of(offset)]) & lane) != 0 ? kFirstLaunch : kUnknown;
  }

  // Puts the states of a run, which lies in one lane from `begin` on, into `states`.
  void find_states(const LaneRun& run, std::uint64_t begin, std::uint8_t launch) const {
    const auto lane = static_cast<Word>(run.lanes);
    std::uint8_t* const put = states + begin - run.begin;
    for (std::uint64_t at = run.begin; at < run.end; ++at)
      put[at] = is_now(at, lane) ? launch : state_of(at, lane, put[at]);
  }

  std::uint64_t unwritten_lanes(const LaneRun& run) const {
    std::uint64_t missing = 0;
    for_each_part(run.begin, std::min(run.end, offsets),
                  [&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
                    std::uint64_t lanes = run.lanes & ~std::uint64_t{part_now[part]};
                    if (lanes != 0 && (parts[part] & kHasWritten) != 0)
                      lanes &= ~std::uint64_t{bits_of_all(now + begin, end - begin)};
                    missing |= lanes;
                  });
    return missing;
  }

  // Calls f(at, end, state) for what was not written of a run, which lies in one lane from `begin` on.
  template <class F>
  void for_each_unwritten(const LaneRun& run, std::uint64_t begin, F f) const {
    const auto lane = static_cast<Word>(run.lanes);
    const std::uint8_t* const own = states + begin - run.begin;
    for (std::uint64_t at = run.begin, end = at; at < run.end; at = end) {
      end = std::min(run.end, (part_of(at) + 1) * kPartBytes);
      if ((part_now[part_of(at)] & lane) != 0) continue;
      at += count_all(now + at, end - at, lane);
      if (at == end) continue;
      const std::uint8_t state = state_of(at, lane, own[at]);
      for (end = at + 1; end < run.end && !is_now(end, lane) && state_of(end, lane, own[end]) == state;) ++end;
      f(at - run.begin, end - run.begin, state);
    }
  }

  void mark_written(const LaneRun& run) const {
    const auto lanes = static_cast<Word>(run.lanes);
    for_each_part(run.begin, std::min(run.end, offsets),
                  [&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
                    if (end - begin == kPartBytes) {
                      part_now[part] |= lanes;
                      parts[part] |= kHasWhole;
                    } else {
                      add(now + begin, end - begin, lanes);
                      parts[part] |= kHasWritten;
                    }
                  });
  }

  void mark_bad(const LaneRun& run) const {
    const auto lane = static_cast<Word>(run.lanes);
    for_each_part(run.begin, run.end, [&](std::uint64_t part, std::uint64_t begin, std::uint64_t end) {
      parts[part] |= kHasBad;
      if ((part_now[part] & lane) != 0) {
        const std::uint64_t first = part * kPartBytes;
        add(now + first, std::min(kPartBytes, offsets - first), lane);
        part_now[part] ^= lane;
        parts[part] |= kHasWritten;
      }
      take(now + begin, end - begin, lane);
      add(bad + begin, end - begin, lane);
    });
  }

  // What is tainted counts as an earlier launch's from now on, and what was written over is neither stale nor tainted.
  void forget_bad(const Chip& chip, std::uint64_t part) const {
    const std::uint64_t first = part * kPartBytes, last = std::min(first + kPartBytes, offsets);
    take_each(bad + first, now + first, last - first);
    take(bad + first, last - first, part_now[part]);
    bool is_stale = false;
    for (std::uint64_t at = first; at < last; ++at) {
      for (Word lanes = bad[at]; lanes != 0; lanes = static_cast<Word>(lanes & (lanes - 1))) {
        const auto lane = static_cast<Word>(lanes & -lanes);
        // A part lies in one NPU of each lane.
        const std::uint8_t* const own = states + place_in_lane(chip, first, std::countr_zero(lane));
        if (!is_taint(own[at - first])) {
          is_stale = true;
          continue;
        }
        earlier[at] |= lane;
        bad[at] ^= lane;
      }
    }
    parts[part] = is_stale ? kWasBad : 0;
  }

  void begin_launch(const Chip& chip) const {
    for (std::uint64_t part = 0; part < part_count(chip); ++part) {
      const std::uint8_t has = parts[part];
      if (has == 0 || has == kWasBad) continue;
      parts[part] = 0;
      if ((has & (kHasBad | kWasBad)) != 0) forget_bad(chip, part);
      const std::uint64_t first = part * kPartBytes;
      if ((has & kHasWritten) != 0) move_each(earlier + first, now + first, std::min(kPartBytes, offsets - first));
      part_earlier[part] |= std::exchange(part_now[part], Word{0});
    }
  }
};

template <class F>
auto Shadow::with_lanes(F f) const {
  const auto lanes = [&]<class Word>(Word) {
    const std::size_t core = own_core();
    const std::uint64_t offsets = offsets_of(chip_);
    const std::uint64_t count = part_count(chip_);
    auto* const bits = reinterpret_cast<Word*>(lane_bits_.data()) + lane_words(chip_) * core;
    return Lanes<Word>{bits,
                       bits + offsets,
                       bits + offsets * 2,
                       bits + offsets * 3,
                       bits + offsets * 3 + count,
                       states_.data() + chip_.local_mem.bytes * core,
                       parts_.data() + count * core,
                       offsets};
  };
  switch (word_bytes(chip_)) {
    case 1: return f(lanes(std::uint8_t{}));
    case 4: return f(lanes(std::uint32_t{}));
    default: return f(lanes(std::uint64_t{}));
  }
}

// Calls f(run, begin): the run of one lane, and where its bytes lie in local memory.
template <class F>
void Shadow::for_each_lane_part(const Span& span, F f) const {
  const std::uint64_t last = std::min(span.end, chip_.local_mem.bytes);
  for (std::uint64_t begin = span.begin, end = begin; begin < last; begin = end) {
    const std::uint32_t npu = static_cast<std::uint32_t>(begin) / chip_.local_bytes;
    end = std::min(last, (std::uint64_t{npu} + 1) * chip_.local_bytes);
    f(run_of(chip_, {SpanSpace::kLocal, begin, end}), begin);
  }
}

std::uint8_t* Shadow::find(const Span& span) const {
  switch (span.space) {
    case SpanSpace::kLocal: {
      mark_waiting();
      return with_lanes([&](const auto& all) {
        for_each_lane_part(span,
                           [&](const LaneRun& run, std::uint64_t begin) { all.find_states(run, begin, own_launch_); });
        return all.states + span.begin;
      });
    }
    case SpanSpace::kStatic: return nullptr;
    case SpanSpace::kSystem: break;
  }
  if (is_global(span.begin, span.end - span.begin)) return global(span.begin);
  if (chip_.l2_sram.contains(span.begin)) return l2_.data() + (span.begin - chip_.l2_sram.start);
  return nullptr;
}

std::uint64_t Shadow::unwritten_lanes(const LaneRun& run) const {
  mark_waiting();
  return with_lanes([&](const auto& all) { return all.unwritten_lanes(run); });
}

void Shadow::visit_unwritten(const Span& span, void* f,
                             void (*call)(void* f, std::uint64_t at, std::uint64_t end, std::uint8_t state)) const {
  mark_waiting();
  with_lanes([&](const auto& all) {
    for_each_lane_part(span, [&](const LaneRun& run, std::uint64_t begin) {
      all.for_each_unwritten(run, begin, [&](std::uint64_t at, std::uint64_t end, std::uint8_t state) {
        call(f, at + begin - span.begin, end + begin - span.begin, state);
      });
    });
  });
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
  LaneRun& waiting = waiting_[own_core()];
  if (waiting.begin == waiting.end) return;
  const LaneRun run = std::exchange(waiting, {});
  with_lanes([&](const auto& all) { all.mark_written(run); });
}

void Shadow::mark_bad(const Span& span, std::uint8_t state) {
  mark_waiting();
  with_lanes([&](const auto& all) {
    for_each_lane_part(span, [&](const LaneRun& run, std::uint64_t begin) {
      std::memset(all.states + begin, state, run.end - run.begin);
      all.mark_bad(run);
    });
  });
}

void Shadow::forget(std::uint64_t address, std::uint64_t bytes) {
  // Pages that are given back and taken again cost more than clearing so few.
  constexpr std::uint64_t kFewBytes = 1 << 17;
  if (bytes <= kFewBytes) {
    std::memset(global(address), kUnknown, bytes);
    return;
  }
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

void Shadow::begin_launch() {
  LaunchPage* const page = running_launch().page;
  const std::atomic_ref last(*launch_.data());
  const auto next = static_cast<std::uint8_t>(last < kLastLaunch ? last + 1 : kFirstLaunch + 1);
  own_launch_ = page == nullptr ? next : static_cast<std::uint8_t>(page->agree(next));
  if (last.exchange(own_launch_) != own_launch_) make_room();
  mark_waiting();
  with_lanes([&](const auto& all) { all.begin_launch(chip_); });
}

// Numbers come again: what launches of the group that comes next have written, a group or more ago, becomes an earlier
// launch's. No launch of that group can run, so that cores which begin or run meanwhile keep their marks.
void Shadow::make_room() {
  constexpr unsigned kFirst = kFirstLaunch + 1, kGroup = 75;
  if ((own_launch_ - kFirst) % kGroup != 0) return;
  const unsigned begin = own_launch_ + kGroup > kLastLaunch ? kFirst : own_launch_ + kGroup;
  const unsigned end = std::min(begin + kGroup, kLastLaunch + 1U);
  for (std::uint64_t part = 0; part < l2_parts_.bytes(); ++part) {
    if (l2_parts_.data()[part] == 0) continue;
    const std::uint64_t last = std::min((part + 1) * kL2PartBytes, l2_.bytes());
    for (std::uint8_t* state = l2_.data() + part * kL2PartBytes; state < l2_.data() + last; ++state) {
      std::uint8_t old = *state;
      // A running core may be marking this byte.
      if (old >= begin && old < end) std::atomic_ref(*state).compare_exchange_strong(old, kFirstLaunch);
    }
  }
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
