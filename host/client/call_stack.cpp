#include "host/client/call_stack.hpp"

#include <dlfcn.h>

#include <boost/stacktrace.hpp>
#include <mutex>
#include <set>

#include "runtime/report/code_lines.hpp"

namespace softtpu::host {
namespace {

constexpr std::size_t kMostFrames = 6;

const void* object_of(const void* address) {
  Dl_info place{};
  return dladdr(address, &place) != 0 ? place.dli_fbase : nullptr;
}

struct OwnObjects {
  std::mutex mutex;
  std::set<const void*> bases;
};
OwnObjects& own_objects() {
  static auto& instance = *new OwnObjects{{}, {object_of(reinterpret_cast<const void*>(&call_stack))}};
  return instance;
}
bool is_own(const void* address) {
  OwnObjects& own = own_objects();
  const std::lock_guard lock(own.mutex);
  return own.bases.contains(object_of(address));
}

// With the whole path: reports show it relative to the sources.
std::string to_text(const SourceLine& line) {
  if (line.path.empty()) return line.function;
  return line.path + ":" + std::to_string(line.line) + " (" + line.function + ")";
}

}  // namespace

bool leave_out_of_call_stacks(const void* place) {
  OwnObjects& own = own_objects();
  const std::lock_guard lock(own.mutex);
  return own.bases.insert(object_of(place)).second;
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
