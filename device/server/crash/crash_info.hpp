// What is known of a core that has ended, from its status page and its exit status: the cause in words, and what to ask
// a process that has the same modules loaded and may die of damaged data; the server may not.
#pragma once

#include <string>

#include "device/server/core_process/core_status.hpp"
#include "runtime/protocol/core_messages.hpp"

namespace softtpu {

class Memories;

struct CrashInfo {
  std::string cause;           // "was ended by signal 11 (Segmentation fault) at address 0x10"
  std::uint64_t commands = 0;  // of the launch
  msg::CoreExplain question;
};

CrashInfo examine(const CoreStatus& status, const Memories& memories, const std::string& how_it_ended);

// Ready for the next core.
void forget_fault(CoreStatus& status, CoreProgress& spare);

// "needs more stack than the 64 MiB that a kernel has (...)"
std::string stack_text(std::uint64_t limit, std::uint64_t used);
// A place with the size of its frames and their number.
std::string frame_text(const std::string& place, const msg::CodeAddress& frame);
// What the places of a question are.
std::string places_title(const msg::CoreExplain& question);
// The lines below a report's first one.
std::string to_text(const msg::CoreExplain& question, const msg::CoreExplainReply& explanation);

}  // namespace softtpu
