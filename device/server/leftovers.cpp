#include "device/server/leftovers.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "device/memory/parallel.hpp"

namespace softtpu {
namespace {

// A thread that has been joined may still be on its way out.
constexpr std::chrono::milliseconds kPatience{20};

bool has_running_child() {
  pid_t child = 0;
  do {
    child = ::waitpid(-1, nullptr, WNOHANG);
  } while (child > 0);
  return child == 0;
}

}  // namespace

Leftovers::Leftovers() : folder_(::opendir("/proc/self/task")) {}
Leftovers::~Leftovers() {
  if (folder_ != nullptr) ::closedir(folder_);
}

std::set<pid_t> Leftovers::threads_now() const {
  std::set<pid_t> threads;
  if (folder_ == nullptr) return threads;
  ::rewinddir(folder_);
  while (const dirent* entry = ::readdir(folder_)) {
    if (entry->d_name[0] != '.') threads.insert(std::atoi(entry->d_name));
  }
  return threads;
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
    const std::set<pid_t> now = threads_now();
    const auto left = std::count_if(now.begin(), now.end(), [&](pid_t thread) { return !threads_.contains(thread); });
    const bool child = has_running_child();
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
