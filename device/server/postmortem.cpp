#include "device/server/postmortem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

// The innermost calls, up to the last one that lies in a module: below it is the core's own loop.
std::vector<CodePlace> calls_of(const CoreStatus& status) {
  std::vector<CodePlace> calls;
  std::size_t in_modules = 0;
  const std::size_t count = std::min<std::size_t>(status.fault.frame_count, FaultRecord::kFrames);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t address = status.fault.frames[i];
    const auto code = std::find_if(status.code.begin(), status.code.end(), [&](const LoadedCode& c) {
      return c.module != 0 && c.begin <= address && address < c.end;
    });
    if (code == status.code.end()) {
      calls.push_back({0, address});
    } else {
      calls.push_back({code->module, address - code->base});
      in_modules = calls.size();
    }
  }
  if (in_modules > 0) calls.resize(in_modules);
  // A process that ended itself did so in a library that it called.
  if (in_modules > 0 && status.fault.signal == 0)
    calls.erase(calls.begin(),
                std::find_if(calls.begin(), calls.end(), [](const CodePlace& c) { return c.module != 0; }));
  return calls;
}

}  // namespace

Postmortem examine(const CoreStatus& status, const Memories& memories, const std::string& how_it_ended) {
  Postmortem found;
  found.cause = how_it_ended;
  if (status.fault.has_address) {
    const std::uint64_t address = status.fault.address;
    found.cause += fmt::format(" at address 0x{:x}", address);
    const std::string place = memories.find_neighbour(reinterpret_cast<const std::uint8_t*>(address));
    if (!place.empty()) found.cause += " (" + place + ")";
  }
  if (status.fault.signal == SIGILL) found.cause += " (so end __builtin_trap and a sanitizer's trapping checks)";
  // Both numbers come from memory that the kernel could write to.
  const std::uint64_t given = status.commands.given(), before = status.launch_commands;
  found.commands = given >= before ? given - before : 0;
  found.question = {found.commands, calls_of(status)};
  if (!status.progress.is_whole())
    found.cause += ", having written over the page in which its core reports to the device";
  return found;
}

void forget_fault(CoreStatus& status, CoreProgress& spare) {
  status.fault.signal = 0;
  status.fault.has_address = false;
  status.fault.frame_count = 0;
  status.code.fill({});
  status.flush_through = 0;
  for (CoreProgress* progress : {&status.progress, &spare}) {
    progress->front = progress->back = CoreProgress::kIntact;
    progress->running = 0;
  }
}

std::string to_text(const CoreExplainReply& explanation) {
  std::string text;
  if (!explanation.calls.empty()) text += "\n - Calls, innermost first:";
  for (const std::string& call : explanation.calls) text += "\n     " + call;
  if (!explanation.commands.empty()) text += "\n - Last commands:";
  for (const std::string& command : explanation.commands) text += "\n     " + command;
  return text;
}

}  // namespace softtpu
