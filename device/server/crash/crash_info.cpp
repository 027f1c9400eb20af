#include "device/server/crash/crash_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "device/memory/memories.hpp"
#include "runtime/base/text.hpp"

namespace softtpu {
namespace {

// The innermost calls, up to the last one that lies in a module: below it is the core's own loop. Of frames that fill
// the stack those in modules.
std::vector<msg::CodeAddress> calls_of(const CoreStatus& status) {
  std::vector<msg::CodeAddress> calls;
  std::size_t in_modules = 0;
  const bool is_overflow = status.fault.stack_limit != 0;
  const std::size_t count = std::min<std::size_t>(status.fault.frame_count, FaultRecord::kFrames);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& frame = status.fault.frames[i];
    const auto address = frame.address;
    const auto code = std::find_if(status.code.begin(), status.code.end(), [&](const LoadedCode& c) {
      return c.module != 0 && c.begin <= address && address < c.end;
    });
    if (code == status.code.end()) {
      if (!is_overflow) calls.push_back({0, address, frame.bytes, frame.count});
    } else {
      calls.push_back({code->module, address - code->base, frame.bytes, frame.count});
      in_modules = calls.size();
    }
  }
  if (in_modules > 0) calls.resize(in_modules);
  // A process that ended itself, or threw, did so in a library that it called.
  if (in_modules > 0 && (status.fault.signal == 0 || status.fault.reason[0] != '\0'))
    calls.erase(calls.begin(),
                std::find_if(calls.begin(), calls.end(), [](const msg::CodeAddress& c) { return c.module != 0; }));
  return calls;
}

}  // namespace

CrashInfo examine(const CoreStatus& status, const Memories& memories, const std::string& how_it_ended) {
  CrashInfo found;
  found.cause = how_it_ended;
  // A kernel that has written over the page may have written anything there.
  const bool whole = status.progress.is_whole();
  if (whole && status.fault.stack_limit != 0) {
    found.cause = stack_text(status.fault.stack_limit, status.fault.stack_used);
  } else if (whole && status.fault.reason[0] != '\0') {
    const auto& reason = status.fault.reason;
    found.cause = to_printable({reason.data(), ::strnlen(reason.data(), reason.size())});
  } else if (status.fault.has_address) {
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
  if (!whole) found.cause += ", having written over the page in which its core reports to the device";
  return found;
}

void forget_fault(CoreStatus& status, CoreProgress& spare) {
  status.fault.signal = 0;
  status.fault.has_address = false;
  status.fault.frame_count = 0;
  status.fault.stack_limit = 0;
  status.fault.reason[0] = '\0';
  status.code.fill({});
  status.flush_through = 0;
  for (auto& item : status.awaited) item = 0;
  for (CoreProgress* progress : {&status.progress, &spare}) {
    progress->front = progress->back = CoreProgress::kIntact;
    progress->running = 0;
  }
}

std::string stack_text(std::uint64_t limit, std::uint64_t used) {
  return fmt::format("needs more stack than the {} MiB that a kernel has ({} bytes where it ended)", limit >> 20, used);
}

std::string frame_text(const std::string& place, const msg::CodeAddress& frame) {
  std::string text = place;
  if (frame.bytes > 0) text += fmt::format(": {} bytes", frame.bytes);
  if (frame.count > 1) text += fmt::format(", {} times", frame.count);
  return text;
}

std::string places_title(const msg::CoreExplain& question) {
  const bool measured = !question.calls.empty() && question.calls.front().bytes > 0;
  return measured ? "Largest frames of the stack" : "Calls, innermost first";
}

std::string to_text(const msg::CoreExplain& question, const msg::CoreExplainReply& explanation) {
  std::string text;
  if (!explanation.calls.empty()) text += fmt::format("\n - {}:", places_title(question));
  for (const std::string& call : explanation.calls) text += "\n     " + call;
  if (!explanation.commands.empty()) text += "\n - Last commands:";
  for (const std::string& command : explanation.commands) text += "\n     " + command;
  return text;
}

}  // namespace softtpu
