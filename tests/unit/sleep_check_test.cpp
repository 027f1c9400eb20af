#include "device/server/core_process/sleep_check.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace softtpu::sleep_check_test {
namespace {

// The read of a file of /proc fails when its process has gone since the file was opened.
TEST(SleepCheck, AProcessThatGoesWhileItIsLookedAtIsNoError) {
  constexpr int kProcesses = 5000;
  std::atomic<pid_t> process{0};
  std::atomic<bool> ends{false};
  std::thread looks([&] {
    while (!ends) {
      const pid_t now = process;
      EXPECT_FALSE(now > 0 && is_process_stopped(now));
    }
  });
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::vfork();  // fork() would copy the page tables of all that ran before: 24 ms a process
    if (child == 0) ::_exit(0);
    process = child;
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }
  ends = true;
  looks.join();
}

}  // namespace
}  // namespace softtpu::sleep_check_test
