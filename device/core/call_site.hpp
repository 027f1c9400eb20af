// Where in the kernel's source a public function was called from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/isa/op.hpp"
#include "runtime/report/finding.hpp"

namespace softtpu {

// The frames of a call, cheap to take (about a microsecond) and resolved only when a report needs them.
struct CallStack {
  std::array<const void*, 16> frames{};
  int count = 0;
  std::optional<Op> composite;  // what the kernel called, where that issues the commands of other functions
  std::string_view step;        // what a command that no code has issued says of itself; outlives the command
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

 private:
  const CallStack* before_;
};

// "tpu_bdc_fp32_exp [tpu_bdc_fp_mul]": the function that the kernel called, with the step in brackets. Whatever shows a
// command to a person names it so.
std::string call_name(Op op, std::optional<Op> composite);
// A command that no code has issued: "TIU 12 sAR.add [tpu_bdc_fp_add]".
std::string call_name(Op op, const CallStack& stack);
// Of the call that is being made.
std::string call_name(Op op);
std::optional<Op> calling_composite();

// The one way from a call to the kernel's source: the calls that a frame stands for, innermost first, more than one
// where the compiler has put helpers into their callers. Without debug information a function's name alone; empty when
// nothing is known. The first answer for a place takes milliseconds, later ones are remembered.
std::vector<SourceLine> find_callers(const CallStack& stack);
// The innermost of them: the line that made the call.
SourceLine find_caller(const CallStack& stack);
// Whether the innermost code outside of the C library is the user's, and not softtpu's; false when that is unknown.
bool is_users_code(const CallStack& stack);
// "device_add.c:42, inlined into add (device_add.c:57)", of the call that is being made.
std::string call_site();

// "helper (device_add.c:42)" for an address inside an instruction; what is not known is left out.
std::string code_text(const void* address);

// What to say, once in a process, beside a place that only a name is known of; empty from the second time on.
std::string lines_hint(const SourceLine& place);

}  // namespace softtpu
