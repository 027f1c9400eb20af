// Programs that tests start, and the processes that these leave behind.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace softtpu::e2e {

// A file of the build tree, beside this program.
std::string built(const char* path);
inline const std::string kHost = built("bin/e2e_host");
inline const std::string kInProcessHost = built("bin/e2e_inprocess_host");
inline const std::string kSofttpu = built("bin/softtpu");
inline const std::string kRemote = built("bin/softtpu-remote");
inline const std::string kKernels = built("lib/e2e_kernels.so");
inline const std::string kFaultKernels = built("lib/e2e_fault_kernels.so");
inline const std::string kSame1 = built("lib/e2e_same_1.so");
inline const std::string kSame2 = built("lib/e2e_same_2.so");
inline const std::string kUnresolved = built("lib/e2e_unresolved.so");
inline const std::string kNeedsRvt = built("lib/e2e_needs_rvt.so");
inline const std::string kHangsLoading = built("lib/e2e_hangs_loading.so");
inline const std::string kHangsUnloading = built("lib/e2e_hangs_unloading.so");
inline const std::string kDiesLoading = built("lib/e2e_dies_loading.so");
inline const std::string kStateKernels = built("lib/e2e_state_kernels.so");
inline const std::string kThrowingKernels = built("lib/e2e_throwing_kernels.so");
inline const std::string kLoadsSlowly = built("lib/e2e_loads_slowly.so");
inline const std::string kAttackKernels = built("lib/e2e_attack_kernels.so");
inline const std::string kRawCalls = built("lib/e2e_raw_calls.so");

// A sanitizer brings its own allocator and signal handling, so that some faults end with it and never reach softtpu,
// and it does not start in little memory.
#ifdef SOFTTPU_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

using Environment = std::map<std::string, std::string>;

std::string read_text(const std::filesystem::path& path);

// Processes that carry the mark in their environment, by name; empty name: all.
std::vector<pid_t> marked_processes(const std::string& mark, const std::string& name = "");

// One started program with its output. Its processes, and those that they start, carry a mark in their environment.
class Program {
 public:
  explicit Program(const std::vector<std::string>& arguments, const Environment& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void kill(int signal) const;
  // The exit status (128 + signal for a signal); -1 when it still runs after so long.
  int wait(std::chrono::milliseconds limit = std::chrono::seconds(20));
  // What it and its processes have printed so far.
  std::string output() const;
  bool wait_for_output(const std::string& text, std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
  // Processes with the mark that are alive, by name ("softtpu-device"); empty name: all but the program itself.
  std::vector<pid_t> processes(const std::string& name = "") const;
  // True when no process with the mark is left (but the program) within the time.
  bool leaves_nothing(std::chrono::milliseconds limit = std::chrono::seconds(5)) const;

 private:
  std::string mark_, output_path_;
  pid_t pid_ = -1;
  int status_ = -1;
};

// Polls until the condition holds; false when it does not within the time.
template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit = std::chrono::seconds(10));

// Waits until the process has computed for some 30 ms since now: the kernel, or the constructor, that never returns has
// begun. A core that only waits for work needs far less.
bool is_soon_computing(pid_t process);
// Waits until the process has slept at five looks, one after the other: it waits for something.
bool is_soon_asleep(pid_t process);

void pause_a_little();

template <class Condition>
bool eventually(Condition condition, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    pause_a_little();
  }
  return true;
}

}  // namespace softtpu::e2e
