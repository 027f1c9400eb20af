#include "device/server/fault_handler.hpp"

#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <csignal>
#include <cstdlib>

namespace softtpu {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, kLookSignal};
constexpr std::size_t kSignalStackBytes = 128 << 10;  // unwinding needs some

FaultRecord* record = nullptr;  // of this core process
std::atomic<bool> noted{false};

struct Walk {
  bool collecting;  // false until the frame that the signal interrupted
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  int interrupted = 0;
  const std::uintptr_t address = ::_Unwind_GetIPInfo(context, &interrupted);
  walk.collecting = walk.collecting || interrupted != 0;
  if (!walk.collecting) return _URC_NO_REASON;
  if (record->frame_count >= FaultRecord::kFrames) return _URC_END_OF_STACK;
  // A return address belongs to the instruction after the call.
  record->frames[record->frame_count] = interrupted != 0 || address == 0 ? address : address - 1;
  ++record->frame_count;
  return _URC_NO_REASON;
}

// A call through a bad pointer leaves no frame to walk from; its caller is where the call instruction put it.
bool is_nowhere(const siginfo_t& info, const void* context) {
#ifdef __x86_64__
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto at = static_cast<std::uint64_t>(machine.gregs[REG_RIP]);
  if (info.si_signo != SIGSEGV || at != reinterpret_cast<std::uintptr_t>(info.si_addr)) return false;
  record->frames[0] = at;
  record->frame_count = 1;
  record->frames[1] = *reinterpret_cast<const std::uint64_t*>(machine.gregs[REG_RSP]) - 1;
  record->frame_count = 2;
  return true;
#else
  static_cast<void>(info);
  static_cast<void>(context);
  return false;
#endif
}

// Notes what happened and lets the signal do its work. A jump out of here would leave the kernel's state behind.
void on_fault(int signal, siginfo_t* info, void* context) {
  std::signal(signal, SIG_DFL);
  if (!noted.exchange(true)) {
    if (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL) {
      record->address = reinterpret_cast<std::uintptr_t>(info->si_addr);
      record->has_address = info->si_code > 0;  // else the signal was sent, by raise() for example
    }
    record->signal = signal;
    Walk walk{false};
    if (!is_nowhere(*info, context)) ::_Unwind_Backtrace(add_frame, &walk);
  }
  std::raise(signal);
}

// exit() in a kernel ends the core with its status; the server's own destructors have no business here.
void on_exit_call(int code, void*) {
  note_end();
  ::_exit(code);
}

}  // namespace

void note_end() {
  if (noted.exchange(true)) return;
  Walk walk{true};
  ::_Unwind_Backtrace(add_frame, &walk);
}

void install_fault_handlers(CoreStatus& status) {
  record = &status.fault;
  // Its own stack, so that a stack overflow is reported as well.
  static char stack[kSignalStackBytes];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kFaultSignals) ::sigaction(signal, &action, nullptr);
  ::on_exit(on_exit_call, nullptr);
}

}  // namespace softtpu
