#include "device/server/core_process/process_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <unordered_set>

#include "device/server/core_process/time_slice.hpp"

namespace softtpu {
namespace {

// ---- Values that a call reads and another one sets ----

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
T value_of(const std::string& bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

// What the C library keeps for itself cannot be asked for.
constexpr bool is_own_signal(int signal) { return signal != 32 && signal != 33; }

// Of a signal set the library fills in what the system knows, and leaves the rest as it was.
using SystemSignals = std::uint64_t;
// The library sets this flag where it sets any handler.
constexpr int kLibraryFlag = 0x04000000;

std::string read_handlers() {
  std::string all;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (!is_own_signal(signal) || ::sigaction(signal, nullptr, &action) != 0) continue;
    const auto handler = reinterpret_cast<std::uintptr_t>(action.sa_sigaction);
    all += bytes_of(handler) + bytes_of(action.sa_flags & ~kLibraryFlag) +
           bytes_of(action.sa_mask).substr(0, sizeof(SystemSignals));
  }
  return all;
}

void set_handlers(const std::string& saved) {
  constexpr std::size_t kBytes = sizeof(std::uintptr_t) + sizeof(int) + sizeof(SystemSignals);
  std::size_t at = 0;
  for (int signal = 1; signal < NSIG && at + kBytes <= saved.size(); ++signal) {
    struct sigaction action {};
    if (!is_own_signal(signal) || ::sigaction(signal, nullptr, &action) != 0) continue;
    const std::string part = saved.substr(at, kBytes);
    action.sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(value_of<std::uintptr_t>(part));
    action.sa_flags = value_of<int>(part.substr(sizeof(std::uintptr_t)));
    action.sa_mask = value_of<sigset_t>(part.substr(sizeof(std::uintptr_t) + sizeof(int)));
    ::sigaction(signal, &action, nullptr);
    at += kBytes;
  }
}

std::string read_mask() {
  sigset_t mask;
  sigemptyset(&mask);
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  return bytes_of(mask).substr(0, sizeof(SystemSignals));
}
void set_mask(const std::string& saved) {
  const auto mask = value_of<sigset_t>(saved);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

std::string read_signal_stack() {
  stack_t stack{};
  ::sigaltstack(nullptr, &stack);
  return bytes_of(stack.ss_sp) + bytes_of(stack.ss_size) + bytes_of(stack.ss_flags);
}
void set_signal_stack(const std::string& saved) {
  stack_t stack{};
  stack.ss_sp = value_of<void*>(saved);
  stack.ss_size = value_of<std::size_t>(saved.substr(sizeof(void*)));
  ::sigaltstack(&stack, nullptr);
}

constexpr std::array kTimers = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
std::string read_timers() {
  std::string running;
  for (const auto timer : kTimers) {
    itimerval value{};
    ::getitimer(timer, &value);
    const bool set = value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0;
    running += set ? '1' : '0';
  }
  return running;
}
void set_timers(const std::string&) {
  const itimerval none{};
  for (const auto timer : kTimers) ::setitimer(timer, &none, nullptr);
}

std::string read_limits() {
  std::string all;
  for (int i = 0; i < static_cast<int>(RLIM_NLIMITS); ++i) {
    rlimit limit{};
    ::prlimit(0, static_cast<__rlimit_resource>(i), nullptr, &limit);
    all += bytes_of(limit);
  }
  return all;
}
void set_limits(const std::string& saved) {
  for (int i = 0; i < static_cast<int>(RLIM_NLIMITS); ++i) {
    const auto limit = value_of<rlimit>(saved.substr(static_cast<std::size_t>(i) * sizeof(rlimit)));
    ::prlimit(0, static_cast<__rlimit_resource>(i), &limit, nullptr);
  }
}

std::string read_folders() {
  std::string both;
  for (const char* path : {".", "/"}) {
    struct stat status {};
    ::stat(path, &status);
    both += bytes_of(status.st_dev) + bytes_of(status.st_ino);
  }
  return both;
}

std::string read_order() {
  const auto priority = ::syscall(SYS_getpriority, PRIO_PROCESS, 0);  // the library's call changes errno's meaning
  return fmt::format("{} {} {}", priority, ::sched_getscheduler(0), ::syscall(SYS_ioprio_get, 1, 0));
}

std::string read_slice() { return bytes_of(time_slice()); }
void set_slice(const std::string& saved) { set_time_slice(value_of<std::chrono::nanoseconds>(saved)); }

// Those that a process can be asked for: to read, to set.
constexpr std::array<std::array<int, 2>, 7> kSwitches = {{{PR_GET_DUMPABLE, PR_SET_DUMPABLE},
                                                          {PR_GET_TIMERSLACK, PR_SET_TIMERSLACK},
                                                          {PR_GET_SECUREBITS, PR_SET_SECUREBITS},
                                                          {PR_GET_KEEPCAPS, PR_SET_KEEPCAPS},
                                                          {PR_GET_THP_DISABLE, PR_SET_THP_DISABLE},
                                                          {PR_GET_NO_NEW_PRIVS, 0},
                                                          {PR_MCE_KILL_GET, 0}}};
// The same with an answer in memory.
constexpr std::array<std::array<int, 2>, 3> kStoredSwitches = {
    {{PR_GET_PDEATHSIG, PR_SET_PDEATHSIG}, {PR_GET_CHILD_SUBREAPER, PR_SET_CHILD_SUBREAPER}, {PR_GET_TSC, PR_SET_TSC}}};

std::string read_switches() {
  std::string all;
  for (const auto& [get, set] : kSwitches) all += bytes_of(static_cast<long>(::prctl(get, 0, 0, 0, 0)));
  for (const auto& [get, set] : kStoredSwitches) {
    int value = 0;
    ::prctl(get, &value, 0, 0, 0);
    all += bytes_of(static_cast<long>(value));
  }
  return all + bytes_of(static_cast<long>(::personality(0xFFFFFFFF)));
}
void set_switches(const std::string& saved) {
  std::size_t at = 0;
  const auto next = [&] { return value_of<long>(saved.substr(sizeof(long) * at++)); };
  const auto set_all = [&](const auto& list) {
    for (const auto& [get, set] : list) {
      const long value = next();
      if (set != 0 && value >= 0) ::prctl(set, value, 0, 0, 0);
    }
  };
  set_all(kSwitches);
  set_all(kStoredSwitches);
  ::personality(static_cast<unsigned long>(next()));
}

std::string read_locale() {
  const char* name = std::setlocale(LC_ALL, nullptr);
  return std::string(name != nullptr ? name : "") + (::uselocale(nullptr) == LC_GLOBAL_LOCALE ? "" : " and its own");
}
void set_locale(const std::string& saved) {
  ::uselocale(LC_GLOBAL_LOCALE);
  std::setlocale(LC_ALL, saved.c_str());
}

std::string read_session() { return fmt::format("{} {}", ::getsid(0), ::getpgrp()); }

struct Part {
  const char* what;
  std::string (*read)();
  void (*set)(const std::string& saved);  // nullptr: nothing sets it back
};

constexpr std::array kParts = {
    Part{"its signal handlers", read_handlers, set_handlers},
    Part{"its signal stack", read_signal_stack, set_signal_stack},
    Part{"its timers", read_timers, set_timers},  // before the mask: one may have run out
    Part{"its signal mask", read_mask, set_mask},
    Part{"its limits", read_limits, set_limits},
    Part{"its priority", read_order, nullptr},
    Part{"its time slice", read_slice, set_slice},
    Part{"its switches (prctl)", read_switches, set_switches},
    Part{"its locale", read_locale, set_locale},
    Part{"its session", read_session, nullptr},
    Part{"its working or root directory", read_folders, nullptr},  // the working one is set back by its descriptor
};

// ---- Rows of /proc/self/status ----

constexpr std::array<std::pair<std::string_view, const char*>, 23> kRows = {
    {{"Umask", "its file mode mask"},
     {"Uid", "its user"},
     {"Gid", "its group"},
     {"Groups", "its groups"},
     {"VmLck", "its locked memory"},
     {"VmPin", "its pinned memory"},
     {"SigPnd", "the signals that wait for it"},
     {"ShdPnd", "the signals that wait for it"},
     {"CapInh", "its capabilities"},
     {"CapPrm", "its capabilities"},
     {"CapEff", "its capabilities"},
     {"CapBnd", "its capabilities"},
     {"CapAmb", "its capabilities"},
     {"NoNewPrivs", "its right to gain rights"},
     {"Seccomp", "its system call filter"},
     {"Seccomp_filters", "its system call filter"},
     {"Speculation_Store_Bypass", "its speculation"},
     {"SpeculationIndirectBranch", "its speculation"},
     {"THP_enabled", "its use of large pages"},
     {"untag_mask", "its pointer mask"},
     {"Cpus_allowed", "its processors"},
     {"Mems_allowed", "its memory nodes"},
     {"x86_Thread_features", "its processor features"}}};

std::string read_file(int fd) {
  std::string text;
  char piece[16384];
  for (;;) {
    const ssize_t got = ::pread(fd, piece, sizeof piece, static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
  }
}

template <class Visit>
void for_each_line(const std::string& text, const Visit& visit) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    visit(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
  }
}

std::vector<std::string> read_status(int fd) {
  std::vector<std::string> values(kRows.size());
  for_each_line(read_file(fd), [&](std::string_view line) {
    const std::size_t colon = std::min(line.find(':'), line.size());
    for (std::size_t i = 0; i < kRows.size(); ++i) {
      if (kRows[i].first == line.substr(0, colon)) values[i] = line.substr(colon);
    }
  });
  return values;
}

// Mappings of files: the device's memories, libraries and the program. Heap and stacks come and go.
std::vector<std::string> read_mappings(int fd) {
  std::vector<std::string> found;
  for_each_line(read_file(fd), [&](std::string_view line) {
    if (line.find('/') != std::string_view::npos) found.emplace_back(line);
  });
  return found;
}

// ---- Descriptors and environment ----

std::string identity_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return {};
  return bytes_of(status.st_dev) + bytes_of(status.st_ino);
}

std::vector<std::string> read_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

}  // namespace

ProcessState::ProcessState()
    : environment_(read_environment()),
      status_file_(::open("/proc/self/status", O_RDONLY | O_CLOEXEC)),
      maps_file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)),
      folder_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  note_files();
  note();
}

void ProcessState::note() {
  values_.clear();
  for (const Part& part : kParts) values_.push_back(part.read());
  status_ = read_status(status_file_.get());
  mappings_ = read_mappings(maps_file_.get());
  made_timers();
}

void ProcessState::note_files() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);
    const int seals = ::fcntl(fd, F_GET_SEALS);
    const bool is_module = seals >= 0 && (seals & F_SEAL_SHRINK) != 0;  // it goes when it is unloaded
    if (entry->d_name[0] != '.' && fd != ::dirfd(folder) && !is_module) files_.push_back({fd, identity_of(fd)});
  }
  ::closedir(folder);
}

std::string ProcessState::changed_file() const {
  for (const File& file : files_) {
    if (identity_of(file.fd) != file.identity) return fmt::format("its descriptor {}", file.fd);
  }
  return {};
}

// Timers have numbers, one after the other. Whether any was made shows in the number of a new one. Where numbers are
// used again (qemu-user), nothing shows.
bool ProcessState::made_timers() {
  const auto next_number = []() -> int {
    int timer = 0;
    sigevent none{};
    none.sigev_notify = SIGEV_NONE;
    if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &none, &timer) != 0) return -1;
    ::syscall(SYS_timer_delete, timer);
    return timer;
  };
  int timer = next_number();
  if (timer < 0) return false;
  const bool first = last_timer_ < 0;
  if (first) timers_count_on_ = next_number() == timer + 1;
  if (first) ++timer;
  const bool made = !first && timers_count_on_ && timer != last_timer_ + 1;
  last_timer_ = timer;
  return made;
}

std::string ProcessState::difference() {
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (kParts[i].read() != values_[i]) return kParts[i].what;
  }
  has_timers_ = has_timers_ || made_timers();
  if (has_timers_) return "its timers";
  const std::vector<std::string> status = read_status(status_file_.get());
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (status[i] != status_[i]) return kRows[i].second;
  }
  if (read_environment() != environment_) return "its environment";
  if (std::string file = changed_file(); !file.empty()) return file;
  const std::vector<std::string> list = read_mappings(maps_file_.get());
  const std::unordered_set<std::string_view> now(list.begin(), list.end());
  for (const std::string& mapping : mappings_) {
    if (!now.contains(mapping)) return "its mapping of " + mapping.substr(mapping.find('/'));
  }
  return {};
}

void ProcessState::restore() {
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    if (kParts[i].set != nullptr && kParts[i].read() != values_[i]) kParts[i].set(values_[i]);
  }
  if (folder_) static_cast<void>(!::fchdir(folder_.get()));
  if (const std::string& mask = status_[0]; mask.size() > 2)
    ::umask(static_cast<mode_t>(std::strtoul(mask.c_str() + 1, nullptr, 8)));
  if (read_environment() == environment_) return;
  ::clearenv();
  for (std::string& entry : environment_) ::putenv(entry.data());
}

}  // namespace softtpu
