#include "device/core/call_site.hpp"

#include <fmt/format.h>
#include <sys/auxv.h>

#include <atomic>
#include <boost/stacktrace.hpp>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "device/core/core.hpp"
#include "device/isa/op.hpp"
#include "runtime/base/image_range.hpp"
#include "runtime/report/code_lines.hpp"

namespace softtpu {
namespace {

thread_local const CallStack* issued_at = nullptr;

// A return address belongs to the instruction after the call; one byte earlier is the call itself.
boost::stacktrace::frame before(const boost::stacktrace::frame& frame) {
  return boost::stacktrace::frame(static_cast<const char*>(frame.address()) - 1);
}

using Callers = std::vector<SourceLine>;

std::string with_function(const SourceLine& line) {
  const std::string place = line.text();
  return place == line.function ? place : line.function + " (" + place + ")";
}

// What begins with the innermost place, and names those that it is inlined into.
std::string chain_text(std::string innermost, const Callers& lines) {
  for (std::size_t i = 1; i < lines.size(); ++i) innermost += ", inlined into " + with_function(lines[i]);
  return innermost;
}

const ImageRange& own_image() {
  static const ImageRange range = image_range_of(reinterpret_cast<const void*>(&capture_call_stack));
  return range;
}
const ImageRange& c_library() {
  static const ImageRange range = image_range_of(reinterpret_cast<const void*>(&std::abort));
  return range;
}
// Kernel and softtpu are one program.
bool is_linked_in() {
  static const bool is = own_image().contains(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
  return is;
}

// The call instruction behind find_caller(); nullptr: unknown.
const void* caller_address(const CallStack& stack) {
  if (stack.count == 0) return nullptr;
  const bool linked_in = is_linked_in();
  // A crash in the kernel comes back through the C library's return from a signal.
  std::vector<boost::stacktrace::frame> trace;
  for (const void* address : stack.frames) {
    if (address == nullptr) break;
    if (!c_library().contains(address)) trace.emplace_back(address);
  }
  for (const auto& frame : trace) {
    if (!linked_in && !own_image().contains(frame.address())) return before(frame).address();
  }
  // Kernel and softtpu in one program: the caller of the outermost public function.
  const void* site = nullptr;
  for (std::size_t i = 0; i + 1 < trace.size(); ++i) {
    // The function that the address is in, not those inlined into it.
    const Callers lines = lines_at(before(trace[i]).address());
    if (!lines.empty() && find_op(lines.back().function)) site = before(trace[i + 1]).address();
  }
  return site;
}

}  // namespace

CallStackScope::CallStackScope(const CallStack& stack) : before_(issued_at) { issued_at = &stack; }
CallStackScope::~CallStackScope() { issued_at = before_; }

CallStack capture_call_stack() {
  if (issued_at != nullptr) return *issued_at;
  CallStack stack;
  stack.count = static_cast<int>(boost::stacktrace::safe_dump_to(0, stack.frames.data(), sizeof(stack.frames)));
  stack.composite = calling_composite();
  return stack;
}

std::string call_name(Op op, std::optional<Op> composite) {
  if (!composite || *composite == op) return std::string(info(op).name);
  return fmt::format("{} [{}]", info(*composite).name, info(op).name);
}

std::string call_name(Op op, const CallStack& stack) {
  if (stack.step.empty()) return call_name(op, stack.composite);
  return fmt::format("{} [{}]", stack.step, info(op).name);
}

std::string call_name(Op op) {
  return issued_at != nullptr ? call_name(op, *issued_at) : call_name(op, calling_composite());
}

std::optional<Op> calling_composite() {
  if (issued_at != nullptr) return issued_at->composite;
  const Core* core = Core::current();
  return core != nullptr ? core->composite() : std::nullopt;
}

std::vector<SourceLine> find_callers(const CallStack& stack) {
  const void* address = caller_address(stack);
  return address != nullptr ? lines_at(address) : Callers();
}

SourceLine find_caller(const CallStack& stack) {
  const Callers lines = find_callers(stack);
  return lines.empty() ? SourceLine() : lines.front();
}

bool is_users_code(const CallStack& stack) {
  for (int i = 0; i < stack.count; ++i) {
    const void* address = stack.frames[static_cast<std::size_t>(i)];
    if (c_library().contains(address)) continue;
    return image_range_of(address).contains(address) && !own_image().contains(address) && !is_linked_in();
  }
  return false;
}

std::string call_site() {
  const CallStack stack = capture_call_stack();
  // A command that no code has issued says itself what it is.
  if (stack.count == 0) return std::string(stack.step);
  const Callers lines = find_callers(stack);
  if (lines.empty()) return {};
  return chain_text(lines.front().text(), lines) + lines_hint(lines.front());
}

std::string code_text(const void* address) {
  const Callers lines = lines_at(address);
  if (lines.empty()) return fmt::format("address 0x{:x}", reinterpret_cast<std::uintptr_t>(address));
  return chain_text(with_function(lines.front()), lines);
}

std::string lines_hint(const SourceLine& place) {
  static std::atomic<bool> said{false};
  if (!place.lacks_line() || said.exchange(true)) return {};
  return std::string("\n - ") + kNoLines;
}

}  // namespace softtpu
