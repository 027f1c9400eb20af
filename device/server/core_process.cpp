#include "device/server/core_process.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "device/server/core_runner.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
constexpr std::size_t kSignalStackBytes = 64 << 10;

CoreStatus* fault_status = nullptr;  // of this core process

// Notes where the fault was and lets the signal do its work. A jump out of here would leave the kernel's state behind.
void on_fault(int signal, siginfo_t* info, void*) {
  if (signal != SIGTRAP) {
    fault_status->fault_address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    fault_status->has_fault_address = true;
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void install_fault_handler(CoreStatus& status) {
  fault_status = &status;
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
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  // Ctrl-C at the terminal is meant for the program; what it decides reaches this process through the connection.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Clients' sockets must not stay open here: their ends would not see the server's death.
void close_all_but(int keep) {
  if (keep > 3) ::syscall(SYS_close_range, 3U, static_cast<unsigned>(keep - 1), 0U);
  ::syscall(SYS_close_range, static_cast<unsigned>(keep + 1), ~0U, 0U);
}

[[noreturn]] void be_core(Memories& memories, int index, CoreStatus& status, UniqueFd socket, pid_t server) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != server) ::_exit(0);  // the server was gone before the request above
  reset_signals();
  close_all_but(socket.get());
  ::prctl(PR_SET_NAME, fmt::format("softtpu-core{}", index).c_str());
  install_fault_handler(status);
  // exit() in a kernel ends this process with its status; the server's own destructors have no business here.
  ::on_exit([](int code, void*) { ::_exit(code); }, nullptr);
  run_core(memories, index, status, std::move(socket));
  ::_exit(0);
}

}  // namespace

Result<CoreProcess> start_core_process(Memories& memories, int index, CoreStatus& status, UniqueFd socket) {
  const pid_t server = ::getpid();
  CoreProcess process;
  process.pid = ::fork();
  if (process.pid < 0) return system_error(ErrorKind::kResource, "fork");
  if (process.pid == 0) be_core(memories, index, status, std::move(socket), server);
  process.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!process.pidfd) return system_error(ErrorKind::kResource, "pidfd_open");
  return process;
}

void start_core_thread(Memories& memories, int index, CoreStatus& status, UniqueFd socket) {
  std::thread([&memories, index, &status, fd = socket.release()] { run_core(memories, index, status, UniqueFd(fd)); }).detach();
}

}  // namespace softtpu
