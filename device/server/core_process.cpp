#include "device/server/core_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "device/server/fault_handler.hpp"
#include "device/server/kernel_stack.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  // Ctrl-C at the terminal is meant for the program; what it decides reaches this process through the connection.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a trace that may not grow is an error, not the end
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Clients' sockets must not stay open here: their ends would not see the server close them. Regular files are kept: an
// observer may write to one.
void close_connections(int keep) {
  std::vector<int> close;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) {
      const int fd = std::atoi(entry->d_name);
      struct stat status {};
      if (fd <= 2 || fd == keep || fd == ::dirfd(folder) || ::fstat(fd, &status) != 0) continue;
      if (!S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode)) close.push_back(fd);
    }
    ::closedir(folder);
  }
  for (const int fd : close) ::close(fd);
}

// Modules that print when they are loaded have done so in the core.
void be_silent() {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null) return;
  ::dup2(null.get(), STDOUT_FILENO);
  ::dup2(null.get(), STDERR_FILENO);
}

[[noreturn]] void be_core(const CoreSetup& setup, UniqueFd socket, pid_t server) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != server) ::_exit(0);  // the server was gone before the request above
  ::setpgid(0, 0);                        // what a kernel forks is ended with its core
  reset_signals();
  enlarge_first_stack();
  close_connections(socket.get());
  const std::string name = setup.explains ? "softtpu-explain" : fmt::format("softtpu-core{}", setup.index);
  ::prctl(PR_SET_NAME, name.c_str());
  if (setup.explains) be_silent();
  install_fault_handlers(setup.status);
  ::_exit(run_core(setup, std::move(socket)) ? kReplaceStatus : 0);
}

}  // namespace

Result<CoreProcess> start_core_process(const CoreSetup& setup, UniqueFd socket) {
  std::fflush(nullptr);  // the child must not write what waits in the buffers of this process
  const pid_t server = ::getpid();
  CoreProcess process;
  process.pid = ::fork();
  if (process.pid < 0) return system_error(ErrorKind::kResource, "fork");
  if (process.pid == 0) be_core(setup, std::move(socket), server);
  process.pidfd = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (process.pidfd) return process;
  // Nobody would learn of its end.
  const Error error = system_error(ErrorKind::kResource, "pidfd_open");
  ::kill(process.pid, SIGKILL);
  ::waitpid(process.pid, nullptr, 0);
  return error;
}

}  // namespace softtpu
