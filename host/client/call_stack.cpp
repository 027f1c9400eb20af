#include "host/client/call_stack.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <boost/stacktrace.hpp>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/base/image_range.hpp"
#include "runtime/report/code_lines.hpp"

namespace softtpu::host {
namespace {

constexpr std::size_t kMostFrames = 6;
constexpr std::size_t kMostKnown = 4096;

using Frames = std::vector<const void*>;
using Texts = std::vector<std::string>;

struct OwnImages {
  std::mutex mutex;
  std::vector<ImageRange> ranges;
  // Stacks that were asked for: programs allocate, copy and free in the same places around each launch.
  std::map<Frames, Texts> known;
  unsigned long long unloaded = 0;  // objects, by the time of `known`

  bool contain(const void* place) const {
    return std::any_of(ranges.begin(), ranges.end(), [&](const ImageRange& range) { return range.contains(place); });
  }
};
OwnImages& own_images() {
  static auto& instance = *new OwnImages{{}, {image_range_of(reinterpret_cast<const void*>(&call_stack))}, {}};
  return instance;
}
bool is_own(const void* place) {
  OwnImages& own = own_images();
  const std::lock_guard lock(own.mutex);
  return own.contain(place);
}

// With the whole path: reports show it relative to the sources.
std::string to_text(const SourceLine& line) {
  if (line.path.empty()) return line.function;
  return line.path + ":" + std::to_string(line.line) + " (" + line.function + ")";
}

// Innermost first.
Frames capture() {
  std::array<const void*, 64> frames{};
  // Without Boost's own frame, which may lie in any library.
  const std::size_t count = boost::stacktrace::safe_dump_to(1, frames.data(), sizeof(frames));
  // With parentheses: braces would make a list of two addresses.
  return Frames(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(std::min(count, frames.size())));
}

unsigned long long unloaded_objects() {
  unsigned long long unloaded = 0;
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    *static_cast<unsigned long long*>(data) = info->dlpi_subs;
    return 1;
  };
  ::dl_iterate_phdr(look, &unloaded);
  return unloaded;
}

Texts resolve(const Frames& frames) {
  Texts lines;
  bool outside = false;
  for (const void* frame : frames) {
    outside = outside || !is_own(frame);
    if (!outside || frame == nullptr) continue;
    // A return address belongs to the instruction after the call; one byte earlier is the call itself.
    const std::vector<SourceLine> functions = lines_at(static_cast<const char*>(frame) - 1);
    if (functions.empty()) break;
    for (const SourceLine& function : functions) {
      const std::string& name = function.function;
      if (lines.size() == kMostFrames || name.starts_with("__libc_start") || name == "_start") return lines;
      lines.push_back(to_text(function));
      // What has called it is the C library, whose debug information takes a tenth of a second where it is installed.
      if (name == "main") return lines;
    }
  }
  return lines;
}

}  // namespace

bool leave_out_of_call_stacks(const void* place) {
  OwnImages& own = own_images();
  const std::lock_guard lock(own.mutex);
  if (own.contain(place)) return false;
  own.ranges.push_back(image_range_of(place));
  own.known.clear();
  return true;
}

std::vector<std::string> call_stack() {
  const Frames frames = capture();
  const unsigned long long unloaded = unloaded_objects();
  OwnImages& own = own_images();
  {
    const std::lock_guard lock(own.mutex);
    // Addresses may mean something else now.
    if (unloaded != own.unloaded || own.known.size() > kMostKnown) own.known.clear();
    own.unloaded = unloaded;
    if (const auto known = own.known.find(frames); known != own.known.end()) return known->second;
  }
  Texts lines = resolve(frames);
  const std::lock_guard lock(own.mutex);
  return own.known.insert_or_assign(frames, std::move(lines)).first->second;
}

}  // namespace softtpu::host
