#include "device/core/call_site.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <boost/stacktrace.hpp>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "runtime/report/code_lines.hpp"

namespace softtpu {
namespace {

thread_local const CallStack* issued_at = nullptr;

const void* object_of(const void* address) {
  Dl_info place{};
  return dladdr(address, &place) != 0 ? place.dli_fbase : nullptr;
}

bool is_public_name(const std::string& name) { return name.starts_with("tpu_") || name.starts_with("okk_"); }

// A return address belongs to the instruction after the call; one byte earlier is the call itself.
boost::stacktrace::frame before(const boost::stacktrace::frame& frame) {
  return boost::stacktrace::frame(static_cast<const char*>(frame.address()) - 1);
}

// Of the function that the address is in, not of those inlined into it; without debug information its name alone.
SourceLine to_line(const void* address) {
  const std::vector<SourceLine> lines = lines_at(address);
  return lines.empty() ? SourceLine() : lines.back();
}

std::string with_function(const SourceLine& line) {
  const std::string place = line.text();
  return place == line.function ? place : line.function + " (" + place + ")";
}

// What begins with the innermost place, and names those that it is inlined into.
std::string chain_text(std::string innermost, const std::vector<SourceLine>& lines) {
  for (std::size_t i = 1; i < lines.size(); ++i) innermost += ", inlined into " + with_function(lines[i]);
  return innermost;
}

// The call instruction behind find_caller(); nullptr: nobody knows.
const void* caller_address(const CallStack& stack) {
  const void* own = object_of(reinterpret_cast<const void*>(&capture_call_stack));
  const bool linked_in = own == object_of(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
  // A crash in the kernel comes back through the C library's return from a signal.
  const void* c_library = object_of(reinterpret_cast<const void*>(&std::abort));
  std::vector<boost::stacktrace::frame> trace;
  for (const void* address : stack.frames) {
    if (address == nullptr) break;
    if (object_of(address) != c_library) trace.emplace_back(address);
  }
  for (const auto& frame : trace) {
    if (!linked_in && object_of(frame.address()) != own) return before(frame).address();
  }
  // Kernel and softtpu in one program: the caller of the outermost public function.
  const void* site = nullptr;
  for (std::size_t i = 0; i + 1 < trace.size(); ++i) {
    if (is_public_name(to_line(before(trace[i]).address()).function)) site = before(trace[i + 1]).address();
  }
  return site;
}

}  // namespace

CallStackScope::CallStackScope(const CallStack& stack) { issued_at = &stack; }
CallStackScope::~CallStackScope() { issued_at = nullptr; }

CallStack capture_call_stack() {
  if (issued_at != nullptr) return *issued_at;
  CallStack stack;
  stack.count = static_cast<int>(boost::stacktrace::safe_dump_to(0, stack.frames.data(), sizeof(stack.frames)));
  return stack;
}

SourceLine find_caller(const CallStack& stack) {
  const void* address = caller_address(stack);
  return address != nullptr ? to_line(address) : SourceLine();
}

std::string code_text(const void* address) {
  const std::vector<SourceLine> lines = lines_at(address);
  if (lines.size() > 1) return chain_text(with_function(lines[0]), lines);
  const SourceLine line = to_line(address);
  if (line.function.empty() && line.path.empty())
    return fmt::format("address 0x{:x}", reinterpret_cast<std::uintptr_t>(address));
  return with_function(line);
}

std::string call_site() {
  const void* address = caller_address(capture_call_stack());
  if (address == nullptr) return {};
  const std::vector<SourceLine> lines = lines_at(address);
  if (lines.size() > 1) return chain_text(lines[0].text(), lines);
  return to_line(address).text();
}

}  // namespace softtpu
