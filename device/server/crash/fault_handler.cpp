#include "device/server/crash/fault_handler.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <typeinfo>

#include "device/server/crash/stack_use.hpp"
#include "runtime/base/interrupted_code.hpp"

namespace softtpu {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, kLookSignal};
constexpr std::size_t kSignalStackBytes = 128 << 10;  // unwinding needs some

FaultRecord* record = nullptr;  // of this core process
StackExtent stack_extent;       // of its first thread, on which kernels run
std::atomic<bool> noted{false};

// A recursion of which no end is in sight.
constexpr std::uint32_t kMostFrames = 20000;

struct Walk {
  bool collecting;  // false until the frame that the signal interrupted
  std::uint32_t seen = 0;
};

void add_place(std::uint64_t address) {
  record->frames[record->frame_count] = {address, 0, 1};
  ++record->frame_count;
}

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  int interrupted = 0;
  const std::uintptr_t address = ::_Unwind_GetIPInfo(context, &interrupted);
  walk.collecting = walk.collecting || interrupted != 0;
  if (!walk.collecting) return _URC_NO_REASON;
  // A return address belongs to the instruction after the call.
  const std::uint64_t place = interrupted != 0 || address == 0 ? address : address - 1;
  // Nested calls from the same place are one frame, with their number.
  if (record->frame_count > 0 && record->frames[record->frame_count - 1].address == place) {
    ++record->frames[record->frame_count - 1].count;
  } else {
    if (record->frame_count >= FaultRecord::kFrames) return _URC_END_OF_STACK;
    add_place(place);
  }
  return ++walk.seen < kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// A call through a bad pointer leaves no frame to walk from; its caller is where the call instruction put it.
bool is_nowhere(const siginfo_t& info, const void* context) {
  const auto at = reinterpret_cast<std::uint64_t>(interrupted_place(context));
  if (info.si_signo != SIGSEGV || at != reinterpret_cast<std::uintptr_t>(info.si_addr)) return false;
  add_place(at);
  add_place(reinterpret_cast<std::uint64_t>(return_of_bad_call(context)) - 1);
  return true;
}

// True: the stack is used up, and it is noted by what.
bool is_overflow(int signal, const siginfo_t& info, const void* context) {
  if ((signal != SIGSEGV && signal != SIGBUS) || info.si_code <= 0) return false;
  const std::uintptr_t pointer = interrupted_stack_pointer(context);
  if (!stack_extent.is_overflow(reinterpret_cast<std::uintptr_t>(info.si_addr), pointer)) return false;
  record->stack_limit = stack_extent.limit;
  record->stack_used = stack_extent.base - pointer;
  const StackUse use = measure_stack();
  std::copy_n(use.places.begin(), use.count, record->frames.begin());
  record->frame_count = static_cast<std::uint32_t>(use.count);
  return true;
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
    const bool noted_otherwise = is_overflow(signal, *info, context) || is_nowhere(*info, context);
    if (!noted_otherwise) ::_Unwind_Backtrace(add_frame, &walk);
  }
  std::raise(signal);
}

void note_reason(std::string_view text) {
  const std::size_t length = std::min(text.size(), FaultRecord::kReasonBytes - 1);
  std::copy_n(text.begin(), length, record->reason.begin());
  record->reason[length] = '\0';
}

// What the exception says of itself; empty: it is none of the standard library's.
std::string text_of_exception() {
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& thrown) {
    return fmt::format(": {}", thrown.what());
  } catch (...) {
    return {};
  }
}

// An exception that nothing has caught. The frames are those that stood when it was thrown: the search for a handler
// has changed nothing.
[[noreturn]] void on_terminate() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) {
    note_reason("called std::terminate");
  } else {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type->name(), nullptr, nullptr, &status),
                                                           &std::free);
    note_reason(fmt::format("threw an exception that nothing caught ({}{})",
                            name != nullptr ? name.get() : type->name(), text_of_exception()));
  }
  std::abort();
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

void note_end(std::string_view reason) {
  if (noted.exchange(true)) return;
  note_reason(reason);
}

void install_fault_handlers(CoreStatus& status) {
  record = &status.fault;
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  stack_extent = {reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), limited ? limit.rlim_cur : 0};
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
  std::set_terminate(on_terminate);
}

}  // namespace softtpu
