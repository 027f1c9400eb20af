#include "device/server/crash/stack_use.hpp"

#include <unwind.h>

#include <algorithm>

namespace softtpu {
namespace {

// A recursion has millions of equal frames; these show what it is made of.
constexpr std::uint64_t kMostFrames = 20000;
constexpr std::size_t kMostFields = 64;
// The last page that fits, what a call below it needs, and the part above `base`.
constexpr std::uint64_t kMargin = std::uint64_t{1} << 20;

struct Walk {
  bool begun = false;  // false until the frame that the signal interrupted
  std::uint64_t seen = 0;
  std::uintptr_t address = 0, low = 0;  // of the frame whose end is not known yet
  std::array<FaultFrame, kMostFields> places{};
  std::size_t count = 0;

  void add(std::uint64_t bytes) {
    const auto end = places.begin() + static_cast<std::ptrdiff_t>(count);
    auto place = std::find_if(places.begin(), end, [&](const FaultFrame& known) { return known.address == address; });
    if (place == end) {
      if (count == kMostFields) return;
      ++count;
      place->address = address;
    }
    place->bytes = std::max(place->bytes, bytes);
    ++place->count;
  }
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  int interrupted = 0;
  const std::uintptr_t address = ::_Unwind_GetIPInfo(context, &interrupted);
  const std::uintptr_t low = ::_Unwind_GetCFA(context);  // where this frame ends and the one that it called begins
  if (walk.begun && low > walk.low) walk.add(low - walk.low);
  walk.begun = walk.begun || interrupted != 0;
  walk.address = interrupted != 0 || address == 0 ? address : address - 1;
  walk.low = low;
  return ++walk.seen < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

bool StackExtent::is_overflow(std::uintptr_t address, std::uintptr_t pointer) const {
  if (limit == 0 || pointer >= base || address >= base) return false;
  return base - pointer + kMargin >= limit && address + kMargin >= pointer && base - address + kMargin >= limit;
}

StackUse measure_stack() {
  Walk walk;
  ::_Unwind_Backtrace(visit, &walk);
  const auto end = walk.places.begin() + static_cast<std::ptrdiff_t>(walk.count);
  const auto larger = [](const FaultFrame& a, const FaultFrame& b) { return a.bytes * a.count > b.bytes * b.count; };
  StackUse use;
  use.count = std::min(walk.count, StackUse::kPlaces);
  std::partial_sort(walk.places.begin(), walk.places.begin() + static_cast<std::ptrdiff_t>(use.count), end, larger);
  std::copy_n(walk.places.begin(), use.count, use.places.begin());
  return use;
}

}  // namespace softtpu
