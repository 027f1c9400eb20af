// What is known of a core that has ended, from its status page and its exit status: the cause in words, and what to ask
// a process that has the same modules loaded and may die of damaged data; the server may not.
#pragma once

#include <string>

#include "device/server/core_status.hpp"
#include "runtime/protocol/core_messages.hpp"

namespace softtpu {

class Memories;

struct Postmortem {
  std::string cause;           // "was ended by signal 11 (Segmentation fault) at address 0x10"
  std::uint64_t commands = 0;  // of the launch
  CoreExplain question;
};

Postmortem examine(const CoreStatus& status, const Memories& memories, const std::string& how_it_ended);

// Ready for the next core.
void forget_fault(CoreStatus& status, CoreProgress& spare);

// The lines below a report's first one.
std::string to_text(const CoreExplainReply& explanation);

}  // namespace softtpu
