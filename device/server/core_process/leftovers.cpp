#include "device/server/core_process/leftovers.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "device/memory/parallel.hpp"

namespace softtpu {
namespace {

// A thread that has been joined may still be on its way out.
constexpr std::chrono::milliseconds kPatience{20};

// Children, also of children that have ended (PR_SET_CHILD_SUBREAPER).
bool has_running_child() {
  pid_t child = 0;
  do {
    child = ::waitpid(-1, nullptr, WNOHANG);
  } while (child > 0);
  return child == 0;
}

}  // namespace

Leftovers::Leftovers()
    : folder_(::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), in_namespace_(::getppid() == 1) {}

// In a PID namespace there are only the first process and this one, and such a signal reaches neither.
bool Leftovers::has_neighbour() const { return in_namespace_ && ::kill(-1, 0) == 0; }

// The folder has a link for each thread; a tenth of the time of reading it.
std::uint64_t Leftovers::threads_now() const {
  struct stat status {};
  return ::fstat(folder_.get(), &status) == 0 ? status.st_nlink : 0;
}

void Leftovers::before_launch() {
  if (process_ == 0) start_all_threads();
  process_ = ::getpid();
  threads_ = threads_now();
}

std::string Leftovers::after_launch() const {
  if (::getpid() != process_) ::_exit(0);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const std::uint64_t now = threads_now();
    const std::uint64_t left = now > threads_ ? now - threads_ : 0;
    const bool child = has_running_child() || has_neighbour();
    if (left == 0 && !child) return {};
    if (std::chrono::steady_clock::now() > end) {
      if (child) return "has returned while a process that it started was running";
      return fmt::format("has returned while {} thread{} that it started {} running", left, left == 1 ? "" : "s",
                         left == 1 ? "was" : "were");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace softtpu
