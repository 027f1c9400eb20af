#include "device/server/core_process/sleep_check.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "device/server/crash/fault_handler.hpp"
#include "runtime/base/text_file.hpp"

namespace softtpu {
namespace {

// Empty when the process has gone, be it between opening and reading: a stream would throw then.
std::string read_all(const std::string& path) {
  constexpr std::size_t kMostBytes = 64 << 10;
  auto text = read_text_file(path, kMostBytes);
  return text ? *std::move(text) : std::string();
}

// The text behind a name in /proc/PID/status.
std::string field(const std::string& status, const std::string& name) {
  const std::size_t begin = status.find("\n" + name + ":\t");
  if (begin == std::string::npos) return {};
  const std::size_t text = begin + name.size() + 3;
  return status.substr(text, status.find('\n', text) - text);
}

// Whether the system call that a thread is in (/proc/PID/task/TID/syscall) ends only when another thread or a signal
// ends it.
bool waits_for_ever(const std::string& call) {
  long number = -1;
  std::array<unsigned long, 6> arguments{};
  const int count = std::sscanf(call.c_str(), "%ld %lx %lx %lx %lx %lx %lx", &number, &arguments[0], &arguments[1],
                                &arguments[2], &arguments[3], &arguments[4], &arguments[5]);
  if (count != 7) return false;
#ifdef SYS_pause
  if (number == SYS_pause) return true;
#endif
  if (number == SYS_rt_sigsuspend) return true;
  if (number != SYS_futex) return false;
  const auto operation = arguments[1] & static_cast<unsigned long>(FUTEX_CMD_MASK);
  const bool waits = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI ||
                     operation == FUTEX_LOCK_PI2 || operation == FUTEX_WAIT_REQUEUE_PI;
  return waits && arguments[3] == 0;  // no time limit
}

// A handler of the kernel's own may wake it.
bool handles_signals(const std::string& status) {
  constexpr auto bit = [](int signal) { return 1ULL << (signal - 1); };
  // The last two are the C library's own.
  constexpr std::uint64_t kExpected = bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) | bit(SIGTRAP) |
                                      bit(SIGABRT) | bit(SIGSYS) | bit(kLookSignal) | bit(32) | bit(33);
  const std::string caught = field(status, "SigCgt");
  return caught.empty() || (std::strtoull(caught.c_str(), nullptr, 16) & ~kExpected) != 0;
}

}  // namespace

bool is_process_stopped(pid_t process) {
  return field(read_all(fmt::format("/proc/{}/status", process)), "State").starts_with('T');
}

SleepCheck::Look SleepCheck::look_once(pid_t core) {
  Look look{core, {}, 0};
  const std::string tasks = fmt::format("/proc/{}/task", core);
  DIR* const folder = ::opendir(tasks.c_str());
  if (folder == nullptr) return look;
  bool all_wait = true, ended = false;
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread <= 0) continue;
    const std::string task = fmt::format("{}/{}", tasks, thread);
    const std::string status = read_all(task + "/status");
    const char state = field(status, "State").c_str()[0];
    look.switches += std::strtoull(field(status, "voluntary_ctxt_switches").c_str(), nullptr, 10);
    const bool gone = state == 'Z' || state == 'X';
    if (gone && thread == core) ended = true;
    const bool waits = state == 'S' && waits_for_ever(read_all(task + "/syscall")) && !handles_signals(status) &&
                       read_all(task + "/children").empty();
    all_wait = all_wait && (gone || waits);
  }
  ::closedir(folder);
  if (ended) {
    look.verdict = "can never return: its thread has ended (pthread_exit)";
  } else if (all_wait) {
    look.verdict = "waits for ever: none of its threads can be woken";
  }
  return look;
}

std::string SleepCheck::look(pid_t core) {
  Look now = look_once(core);
  const bool same = now.core == seen_.core && now.verdict == seen_.verdict && now.switches == seen_.switches;
  seen_ = std::move(now);
  return same ? seen_.verdict : std::string();
}

}  // namespace softtpu
