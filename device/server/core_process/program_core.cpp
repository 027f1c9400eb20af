#include "device/server/core_process/program_core.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "device/core/call_site.hpp"
#include "device/core/core.hpp"
#include "device/server/core_process/kernel_stack.hpp"
#include "device/server/crash/crash_info.hpp"
#include "device/server/crash/stack_use.hpp"
#include "runtime/base/interrupted_code.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr std::size_t kSignalStackBytes = 256 << 10;  // a report resolves source lines
constexpr std::size_t kMostCores = 64;

// A core thread of this program, as the signal handler finds it.
struct ProgramCore {
  CoreSetup setup;
  int socket;
  KernelStack stack;
};
struct CoreSlot {
  std::atomic<pid_t> thread{0};  // 0: free
  const ProgramCore* core = nullptr;
};
std::array<CoreSlot, kMostCores> core_slots;  // NOLINT: the handler has no other way to its data
std::array<struct sigaction, kSignals.size()> former_actions;

pid_t own_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

const ProgramCore* find_core() {
  const pid_t thread = own_thread();
  for (const CoreSlot& place : core_slots) {
    if (place.thread == thread) return place.core;
  }
  return nullptr;
}

const void* image_of(const void* code) {
  Dl_info info{};
  return ::dladdr(code, &info) != 0 ? info.dli_fbase : nullptr;
}

// Functions of the C library that hold no lock and keep no state, whatever they are given.
bool is_plain_copy(const void* code) {
  constexpr std::ptrdiff_t kLongest = 2048;
  void* (*const moves[])(void*, const void*, std::size_t) = {std::memcpy, std::memmove};
  void* (*const fill)(void*, int, std::size_t) = std::memset;
  const auto within = [&](const void* start) {
    const auto offset = static_cast<const char*>(code) - static_cast<const char*>(start);
    return offset >= 0 && offset < kLongest;
  };
  return within(reinterpret_cast<const void*>(moves[0])) || within(reinterpret_cast<const void*>(moves[1])) ||
         within(reinterpret_cast<const void*>(fill));
}

void* run(void* raw);

// Looks at the calls from the crash outwards, until one decides.
struct Walk {
  const void* own_image;  // softtpu's
  const void* kernel_image;
  bool at_crash = false;  // the frames before it are the handler's
  bool first = true;
  bool safe = false;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* context, void* data) {
  Walk& walk = *static_cast<Walk*>(data);
  int interrupted = 0;
  const auto code = reinterpret_cast<const void*>(::_Unwind_GetIPInfo(context, &interrupted));
  walk.at_crash = walk.at_crash || interrupted != 0;
  if (!walk.at_crash) return _URC_NO_REASON;
  const bool first = std::exchange(walk.first, false);
  const void* image = image_of(code);
  // A kernel that ends in a call of softtpu has no frame of its own left then.
  const bool at_end = ::_Unwind_FindEnclosingFunction(const_cast<void*>(code)) == reinterpret_cast<void*>(&run);
  if (at_end || (image != nullptr && image == walk.kernel_image)) {
    walk.safe = true;
    return _URC_END_OF_STACK;
  }
  const bool harmless = (image != nullptr && image == walk.own_image) || (first && is_plain_copy(code));
  return harmless ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// A call through a bad pointer leaves no code at the crash; where it came from lies on top of the stack.
const void* caller_of_nowhere(const siginfo_t& info, const ucontext_t& context) {
  if (info.si_signo != SIGSEGV) return nullptr;  // others give the place of the instruction itself
  return interrupted_place(&context) == info.si_addr ? return_of_bad_call(&context) : nullptr;
}

bool can_go_on(const siginfo_t& info, const ucontext_t& context, const void* kernel) {
  Walk walk{image_of(reinterpret_cast<const void*>(&start_core_thread)), image_of(kernel)};
  if (const void* caller = caller_of_nowhere(info, context)) return image_of(caller) == walk.kernel_image;
  ::_Unwind_Backtrace(look_at_frame, &walk);
  return walk.safe;
}

// The kernel's frames that fill the stack.
std::string frames_text(const void* kernel) {
  std::string text;
  const StackUse use = measure_stack();
  for (std::size_t i = 0; i < use.count; ++i) {
    const FaultFrame& frame = use.places[i];
    const auto* code = reinterpret_cast<const void*>(frame.address);
    if (image_of(code) != image_of(kernel)) continue;
    text += "\n     " + frame_text(code_text(code), {0, 0, frame.bytes, frame.count});
  }
  return text.empty() ? text : "\n - Largest frames of the stack:" + text;
}

// What comes after the first sentence, too.
struct Cause {
  std::string text, details;
};
Cause find_cause(int signal, const siginfo_t& info, const void* context, const ProgramCore& core, const void* kernel) {
  const auto address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  if (signal == SIGSEGV && core.stack.overflows_at(address)) {
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(core.stack.begin) + kKernelStackBytes;
    const std::uintptr_t pointer = interrupted_stack_pointer(context);
    return {stack_text(kKernelStackBytes, end > pointer ? end - pointer : kKernelStackBytes), frames_text(kernel)};
  }
  std::string text = fmt::format("was stopped by signal {} ({})", signal, ::sigdescr_np(signal));
  if (info.si_code > 0) text += fmt::format(" at address 0x{:x}", address);
  return {text, ""};
}

// The launch is left by a jump, so nothing with a destructor may live where this is called.
void note_fault(Core& core, const Cause& cause) {
  core.fault(ErrorKind::kUsage, fmt::format("kernel \"{}\" {}.{}", core.kernel(), cause.text, cause.details));
}

// What the program did with this signal before: a handler of its own, or the default, which comes when the instruction
// that crashed is tried again.
void pass_on(int signal, siginfo_t* info, void* context) {
  std::size_t index = 0;
  while (kSignals[index] != signal) ++index;
  const struct sigaction& former = former_actions[index];
  if ((former.sa_flags & SA_SIGINFO) != 0 && former.sa_sigaction != nullptr) {
    return former.sa_sigaction(signal, info, context);
  }
  if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) return former.sa_handler(signal);
  ::sigaction(signal, &former, nullptr);
  if (info->si_code <= 0) ::raise(signal);  // sent by a process: nothing will crash again
}

void on_signal(int signal, siginfo_t* info, void* raw) {
  const ProgramCore* core = find_core();
  Core* running = core != nullptr ? Core::current() : nullptr;
  if (running == nullptr) return pass_on(signal, info, raw);
  const auto& context = *static_cast<const ucontext_t*>(raw);
  const auto* kernel = reinterpret_cast<const void*>(running->entry());
  if (can_go_on(*info, context, kernel)) {
    sigset_t own;
    ::sigemptyset(&own);
    ::sigaddset(&own, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
    note_fault(*running, find_cause(signal, *info, raw, *core, kernel));
    running->end_launch();
  }
  const std::string text = fmt::format(
      "softtpu: kernel \"{}\" {}, outside its own code; the program cannot go on. Kernels in a module of their own run "
      "in a "
      "process of their own.\n",
      running->kernel(), find_cause(signal, *info, raw, *core, kernel).text);
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  pass_on(signal, info, raw);
}

void install_handlers() {
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &former_actions[i]);
}

void* run(void* raw) {
  const std::unique_ptr<ProgramCore> core(static_cast<ProgramCore*>(raw));
  const auto signal_stack = std::make_unique<char[]>(kSignalStackBytes);
  const stack_t alternate{signal_stack.get(), 0, kSignalStackBytes};
  ::sigaltstack(&alternate, nullptr);
  CoreSlot* own = nullptr;
  for (CoreSlot& place : core_slots) {
    pid_t free = 0;
    if (!place.thread.compare_exchange_strong(free, -1)) continue;
    place.core = core.get();
    place.thread = own_thread();
    own = &place;
    break;
  }
  run_core(core->setup, UniqueFd(core->socket));
  if (own != nullptr) own->thread = 0;
  const stack_t none{nullptr, SS_DISABLE, 0};
  ::sigaltstack(&none, nullptr);
  return nullptr;
}

}  // namespace

Result<void> start_core_thread(const CoreSetup& setup, UniqueFd socket) {
  static std::once_flag once;
  std::call_once(once, install_handlers);
  auto stack = KernelStack::create();
  if (!stack) return stack.error();
  auto core = std::make_unique<ProgramCore>(ProgramCore{setup, socket.release(), *stack});
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstack(&attributes, stack->begin, kKernelStackBytes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const int failed = ::pthread_create(&thread, &attributes, run, core.get());
  ::pthread_attr_destroy(&attributes);
  if (failed != 0) {
    ::close(core->socket);
    errno = failed;
    return system_error(ErrorKind::kResource, "pthread_create of a core");
  }
  static_cast<void>(core.release());
  return {};
}

}  // namespace softtpu
