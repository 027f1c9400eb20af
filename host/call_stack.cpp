#include "host/call_stack.hpp"

#include <dlfcn.h>

#include <boost/stacktrace.hpp>

#include "host/code_lines.hpp"

namespace softtpu::host {
namespace {

constexpr std::size_t kMostFrames = 6;

const void* object_of(const void* address) {
  Dl_info place{};
  return dladdr(address, &place) != 0 ? place.dli_fbase : nullptr;
}

}  // namespace

std::vector<std::string> call_stack() {
  const void* own = object_of(reinterpret_cast<const void*>(&call_stack));
  std::vector<std::string> lines;
  bool outside = false;
  for (const auto& frame : boost::stacktrace::stacktrace()) {
    outside = outside || object_of(frame.address()) != own;
    if (!outside) continue;
    const std::vector<std::string> functions = lines_at(frame.address());
    if (functions.empty()) break;
    for (const std::string& line : functions) {
      if (lines.size() == kMostFrames || line.starts_with("__libc_start") || line == "_start") return lines;
      lines.push_back(line);
      if (line.ends_with("(main)")) return lines;
    }
  }
  return lines;
}

}  // namespace softtpu::host
