#include "device/checks/shadow.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "device/core/launch_page.hpp"

namespace softtpu {

Result<std::shared_ptr<Shadow>> Shadow::create(const Chip& chip) {
  std::shared_ptr<Shadow> shadow(new Shadow(chip));
  const struct {
    SharedBytes* part;
    std::uint64_t bytes;
  } parts[] = {{&shadow->global_, chip.global_mem.bytes},
               {&shadow->l2_, chip.l2_sram.bytes},
               {&shadow->local_, chip.local_mem.bytes * static_cast<unsigned>(chip.cores)},
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

std::uint8_t* Shadow::find(const Span& span) const {
  switch (span.space) {
    case SpanSpace::kLocal: return local() + span.begin;
    case SpanSpace::kStatic: return nullptr;
    case SpanSpace::kSystem: break;
  }
  if (is_global(span.begin, span.end - span.begin)) return global(span.begin);
  if (chip_.l2_sram.contains(span.begin)) return l2_.data() + (span.begin - chip_.l2_sram.start);
  return nullptr;
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

std::uint8_t* Shadow::local() const {
  return local_.data() + chip_.local_mem.bytes * static_cast<unsigned>(current_place().core);
}

void Shadow::begin_launch() {
  LaunchPage* const page = current_place().page;
  own_launch_ = page == nullptr ? next_number() : static_cast<std::uint8_t>(page->agree(next_number()));
  *launch_.data() = own_launch_;
}

std::uint8_t Shadow::next_number() {
  const std::uint8_t number = *launch_.data();
  if (number < kLastLaunch) return static_cast<std::uint8_t>(number + 1);
  // Numbers run out: what was written in any launch becomes an earlier launch's.
  for (const SharedBytes* part : {&local_, &l2_}) {
    std::uint8_t* states = part->data();
    for (std::uint64_t i = 0; i < part->bytes(); ++i) {
      if (states[i] > kFirstLaunch) states[i] = kFirstLaunch;
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
