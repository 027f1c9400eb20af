#include "host/call_stack.hpp"

#include <dlfcn.h>

#include <boost/stacktrace.hpp>
#include <map>
#include <mutex>

namespace softtpu::host {
namespace {

constexpr std::size_t kMostFrames = 6;

const void* object_of(const void* address) {
  Dl_info place{};
  return dladdr(address, &place) != 0 ? place.dli_fbase : nullptr;
}

// A return address belongs to the instruction after the call; one byte earlier is the call itself.
std::string describe(const void* address) {
  static std::mutex mutex;
  static auto& known = *new std::map<const void*, std::string>;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = known.try_emplace(address);
  if (!is_new) return place->second;
  const boost::stacktrace::frame frame(static_cast<const char*>(address) - 1);
  const std::string file = frame.source_file();
  std::string text = frame.name();
  if (!file.empty()) {
    text = file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(frame.source_line()) + " (" + text + ")";
  }
  return place->second = text;
}

}  // namespace

std::vector<std::string> call_stack() {
  const void* own = object_of(reinterpret_cast<const void*>(&call_stack));
  std::vector<std::string> lines;
  bool outside = false;
  for (const auto& frame : boost::stacktrace::stacktrace()) {
    outside = outside || object_of(frame.address()) != own;
    if (!outside || lines.size() == kMostFrames) continue;
    const std::string line = describe(frame.address());
    if (line.starts_with("__libc_start") || line == "_start" || line.empty()) break;
    lines.push_back(line);
    if (line.ends_with("(main)")) break;
  }
  return lines;
}

}  // namespace softtpu::host
