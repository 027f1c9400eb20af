#include "host/client/call_stack.hpp"

#include <algorithm>
#include <boost/stacktrace.hpp>
#include <mutex>
#include <vector>

#include "runtime/base/image_range.hpp"
#include "runtime/report/code_lines.hpp"

namespace softtpu::host {
namespace {

constexpr std::size_t kMostFrames = 6;

struct OwnImages {
  std::mutex mutex;
  std::vector<ImageRange> ranges;

  bool contain(const void* place) const {
    return std::any_of(ranges.begin(), ranges.end(), [&](const ImageRange& range) { return range.contains(place); });
  }
};
OwnImages& own_images() {
  static auto& instance = *new OwnImages{{}, {image_range_of(reinterpret_cast<const void*>(&call_stack))}};
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

}  // namespace

bool leave_out_of_call_stacks(const void* place) {
  OwnImages& own = own_images();
  const std::lock_guard lock(own.mutex);
  if (own.contain(place)) return false;
  own.ranges.push_back(image_range_of(place));
  return true;
}

std::vector<std::string> call_stack() {
  std::vector<std::string> lines;
  bool outside = false;
  for (const auto& frame : boost::stacktrace::stacktrace()) {
    outside = outside || !is_own(frame.address());
    if (!outside) continue;
    // A return address belongs to the instruction after the call; one byte earlier is the call itself.
    const std::vector<SourceLine> functions = lines_at(static_cast<const char*>(frame.address()) - 1);
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

}  // namespace softtpu::host
