// Where in the kernel's source a public function was called from.
#pragma once

#include <array>
#include <string>

#include "runtime/report/finding.hpp"

namespace softtpu {

// The frames of a call, cheap to take (about a microsecond) and resolved only when a report needs them.
struct CallStack {
  std::array<const void*, 16> frames{};
  int count = 0;
  bool operator==(const CallStack&) const = default;
};

CallStack capture_call_stack();

// While it lives, capture_call_stack() on this thread answers with `stack`: of a command that is executed later than it
// was issued.
class CallStackScope {
 public:
  explicit CallStackScope(const CallStack& stack);
  ~CallStackScope();
  CallStackScope(const CallStackScope&) = delete;
  CallStackScope& operator=(const CallStackScope&) = delete;
};

// The innermost frame outside softtpu: the line of the user's source that made the call. Slow (milliseconds).
SourceLine find_caller(const CallStack& stack);

// "device_add.c:42" for the innermost frame outside softtpu, read from the module's debug information; without that the
// kernel function's name; empty when neither is known. Slow (milliseconds): for faults and reports.
std::string call_site();

// "helper (device_add.c:42)" for an address inside an instruction; what is not known is left out.
std::string code_text(const void* address);

}  // namespace softtpu
