#include "tools/softtpu/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/base/unique_fd.hpp"

namespace softtpu::cli {
namespace {

std::atomic<pid_t> program{0};

void pass_on(int signal) {
  if (program > 0) ::kill(program, signal);
}

// Tells the parent why exec failed through a pipe that a successful exec closes.
[[noreturn]] void be_program(std::vector<char*>& arguments, pid_t launcher, int tell) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGQUIT, SIG_DFL);
  ::execvp(arguments[0], arguments.data());
  const int why = errno;
  static_cast<void>(!::write(tell, &why, sizeof(why)));
  ::_exit(127);
}

// Returns when the program has ended.
void watch_until_end(pid_t child, const Meanwhile& meanwhile) {
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process) return;
  pollfd waits[] = {{process.get(), POLLIN, 0}, {meanwhile.fd, POLLIN, 0}};
  while (waits[0].revents == 0) {
    if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[0].revents == 0 && waits[1].revents != 0) meanwhile.when_readable(child);
  }
}

}  // namespace

Result<int> run_program(const std::vector<std::string>& command, const Meanwhile& meanwhile) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{ErrorKind::kResource, std::strerror(errno)};
  const UniqueFd hear(ends[0]);
  UniqueFd tell(ends[1]);
  const pid_t launcher = ::getpid();
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGQUIT, SIG_IGN);
  const pid_t child = ::fork();
  if (child < 0) return Error{ErrorKind::kResource, std::strerror(errno)};
  if (child == 0) be_program(arguments, launcher, tell.get());
  tell.reset();
  program = child;
  std::signal(SIGTERM, pass_on);
  std::signal(SIGHUP, pass_on);
  int why = 0;
  ssize_t heard = 0;
  while ((heard = ::read(hear.get(), &why, sizeof(why))) < 0 && errno == EINTR) {
  }
  if (heard != sizeof(why) && meanwhile.fd >= 0) watch_until_end(child, meanwhile);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  program = 0;
  if (heard == sizeof(why)) return Error{ErrorKind::kUsage, fmt::format("{}: {}", command[0], std::strerror(why))};
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace softtpu::cli
