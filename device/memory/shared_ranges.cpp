#include "device/memory/shared_ranges.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

namespace softtpu {
namespace {

// Never destroyed: memories may be unmapped while the program ends.
std::vector<SharedRange>& ranges() {
  static auto* const all = new std::vector<SharedRange>;
  return *all;
}

// Tests map memories in several threads; a server has one.
std::mutex& lock() {
  static auto* const one = new std::mutex;
  return *one;
}

}  // namespace

void note_shared_range(const SharedRange& range) {
  const std::scoped_lock locked(lock());
  ranges().push_back(range);
}

void forget_shared_range(const std::uint8_t* data) {
  const std::scoped_lock locked(lock());
  std::erase_if(ranges(), [data](const SharedRange& range) { return range.data == data; });
}

const std::vector<SharedRange>& shared_ranges() { return ranges(); }

void keep_shared_ranges(std::span<const void* const> kept) {
  std::erase_if(ranges(), [kept](const SharedRange& range) {
    const auto holds = [&range](const void* address) {
      return range.data <= address && address < range.data + range.bytes;
    };
    if (std::any_of(kept.begin(), kept.end(), holds)) return false;
    ::munmap(range.data, range.bytes);
    return true;
  });
}

}  // namespace softtpu
