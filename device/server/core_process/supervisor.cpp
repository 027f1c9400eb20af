#include "device/server/core_process/supervisor.hpp"

#include <cxxabi.h>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device/memory/memories.hpp"
#include "device/memory/shared_ranges.hpp"
#include "device/observers/device_observers.hpp"
#include "device/server/core_process/kernel_stack.hpp"
#include "device/server/core_process/time_slice.hpp"
#include "device/server/crash/fault_handler.hpp"
#include "device/server/queue/core_rings.hpp"
#include "runtime/base/ownership.hpp"
#include "runtime/process/signals_blocked.hpp"

namespace softtpu {
namespace {

// What cannot be ended within this time sleeps in the system.
constexpr std::chrono::seconds kSweepTime{3};
// The shortest that there is: a core that has slept gets the processor when a launch comes.
constexpr std::chrono::microseconds kSlice{100};
constexpr int kThreadEndedStatus = 87;

void tell(int channel, const SupervisorMessage& message) {
  static_cast<void>(::send(channel, &message, sizeof message, MSG_NOSIGNAL));
}

[[noreturn]] void fail(int channel) {
  tell(channel, {SupervisorNote::kFailed, errno});
  ::_exit(1);
}

// ---- The core ----

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
  // Ctrl-C at the terminal is meant for the program; what it decides reaches this process through the connection.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a trace that may not grow is an error, not the end
  take_signals();
}

// The server's memories and modules are sealed, which no file of an observer is.
bool is_sealed(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

// Clients' sockets must not stay open here: their ends would not see the server close them. What the server shares with
// others is none of a kernel's business. Regular files are kept: an observer may write to one.
void close_connections(std::initializer_list<int> keep, bool keeps_sealed) {
  std::vector<int> close;
  if (DIR* folder = ::opendir("/proc/self/fd")) {
    while (const dirent* entry = ::readdir(folder)) {
      const int fd = std::atoi(entry->d_name);
      struct stat status {};
      const bool kept = std::find(keep.begin(), keep.end(), fd) != keep.end();
      if (fd <= 2 || kept || fd == ::dirfd(folder) || ::fstat(fd, &status) != 0) continue;
      const bool is_file = S_ISREG(status.st_mode) || S_ISCHR(status.st_mode);
      if (!is_file || (is_sealed(fd) && !keeps_sealed)) close.push_back(fd);
    }
    ::closedir(folder);
  }
  for (const int fd : close) ::close(fd);
}

// Other devices' memories and other cores' pages are mapped in the server as well.
void unmap_what_is_others(const CoreSetup& setup) {
  const Memories& own = setup.memories;
  const bool has_ring = setup.rings != nullptr;
  const std::array<const void*, 10> kept = {own.global(),
                                            own.l2(),
                                            own.static_mem(),
                                            own.local(0),
                                            own.dtcm(),
                                            &setup.status,
                                            &setup.spare,
                                            setup.launches,
                                            has_ring ? &setup.rings->bell() : nullptr,
                                            has_ring ? &setup.rings->box(setup.index) : nullptr};
  keep_shared_ranges(kept);
  if (has_ring) setup.rings->make_read_only(setup.index);
}

// Modules that print when they are loaded have done so in the core.
void be_silent() {
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null) return;
  ::dup2(null.get(), STDOUT_FILENO);
  ::dup2(null.get(), STDERR_FILENO);
}

// A user namespace gives its processes all rights inside it; nothing here needs one.
void give_up_rights() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  ::syscall(SYS_capset, &header, none.data());
}

// A core that a launch has woken is quick to get its processor. Where there are more cores than processors, the server
// wakes all of them first: taking turns with each would double the changes of process.
void share_processors(int cores) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  static_cast<unsigned>(cores) > processors ? let_wakers_go_on() : set_time_slice(kSlice);
}

// The outermost frame of a core. What lies further out are the frames that the process was forked with, and their
// objects own what is outside: other cores, the gateway, the socket's name. So the call frame information ends here:
// the search for an exception's handler ends in std::terminate, and pthread_exit, which would start the end of the
// program, is stopped.
[[noreturn]] __attribute__((noinline)) void run_outermost(const CoreSetup& setup, UniqueFd& socket) {
#if defined(__x86_64__)
  asm volatile(".cfi_undefined rip");
#elif defined(__aarch64__)
  asm volatile(".cfi_undefined x30");
#else
#error "the name of the return address's register is missing"
#endif
  try {
    ::_exit(run_core(setup, std::move(socket)) ? kReplaceStatus : 0);
  } catch (abi::__forced_unwind&) {
    note_end("ended the thread of its core (pthread_exit)");
    ::_exit(kThreadEndedStatus);
  }
}

[[noreturn]] void run_core(const CoreSetup& setup, UniqueFd socket, int channel, pid_t supervisor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(0);  // it was gone before the request above
  ::setpgid(0, 0);                            // signals of the terminal are the program's
  tell(channel, {SupervisorNote::kCoreIsHere});
  // What loses its parent is counted as left by the kernel that runs.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  reset_signals();
  enlarge_first_stack();
  // Images of the memories are taken through their files.
  const bool takes_images = setup.observers.recorder != nullptr || setup.observers.compares_runs();
  close_connections({socket.get(), setup.report_file}, takes_images);
  unmap_what_is_others(setup);
  const std::string name = setup.explains ? "softtpu-explain" : fmt::format("softtpu-core{}", setup.index);
  ::prctl(PR_SET_NAME, name.c_str());
  if (setup.explains) be_silent();
  install_fault_handlers(setup.status);
  if (!setup.explains) share_processors(setup.memories.chip().cores);
  run_outermost(setup, socket);
}

// ---- The supervisor ----

bool write_text(const char* path, const std::string& text) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Inside a new user namespace every id is unmapped until this.
bool keep_identity(uid_t user, gid_t group) {
  return write_text("/proc/self/uid_map", fmt::format("{0} {0} 1\n", user)) &&
         write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/gid_map", fmt::format("{0} {0} 1\n", group));
}

std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* const folder = ::opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* entry = ::readdir(folder)) {
    const pid_t process = std::atoi(entry->d_name);
    if (process <= 0) continue;
    std::ifstream file(fmt::format("/proc/{}/stat", process));
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    char state = 0;
    pid_t parent = 0;
    if (name_end == std::string::npos || std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) != 2)
      continue;
    if (parent == ::getpid()) found.push_back(process);
  }
  ::closedir(folder);
  return found;
}

// Ends what the core has left. The children of what is ended become this process's own.
void sweep() {
  const auto end = std::chrono::steady_clock::now() + kSweepTime;
  for (;;) {
    pid_t gone = 0;
    while ((gone = ::waitpid(-1, nullptr, WNOHANG | __WALL)) > 0 || (gone < 0 && errno == EINTR)) {
    }
    if (gone < 0 || std::chrono::steady_clock::now() > end) return;
    for (const pid_t process : children()) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Waits for the end of the core, or of the server's interest in it.
int wait_for_core(pid_t core, int channel) {
  const UniqueFd end(static_cast<int>(::syscall(SYS_pidfd_open, core, 0)));
  std::array<pollfd, 2> events = {{{end.get(), POLLIN, 0}, {channel, 0, 0}}};
  for (;;) {
    const int count = ::poll(events.data(), events.size(), -1);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 || events[1].revents != 0) ::kill(core, SIGKILL);
    if (count < 0 || events[0].revents != 0 || events[1].revents != 0) break;
  }
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(core), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  ::kill(-core, SIGKILL);  // the group's number is taken until the wait below
  int status = 0;
  ::waitpid(core, &status, 0);
  return status;
}

}  // namespace

void run_supervisor(const CoreSetup& setup, UniqueFd socket, const UniqueFd& channel, const Confinement& place) {
  give_up_ownership();
  ::prctl(PR_SET_NAME, "tpu-supervisor");
  // Its server ends it. The handler that the server has for these would end the server.
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_IGN);
  if (place.own_namespace) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (place.own_user && !keep_identity(place.user, place.group)) fail(channel.get());
  } else {
    // It outlives the server for the moment that it takes to end what is left.
    ::setpgid(0, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  if (place.own_user) give_up_rights();
  const pid_t self = ::getpid();
  const pid_t core = ::fork();
  if (core < 0) fail(channel.get());
  if (core == 0) run_core(setup, std::move(socket), channel.get(), self);
  take_signals();
  ::prctl(PR_SET_DUMPABLE, 0);  // a kernel has the same user, and could look into this process and change it
  ::dup2(channel.get(), STDIN_FILENO);
  ::syscall(SYS_close_range, 1U, ~0U, 0U);
  tell(STDIN_FILENO, {SupervisorNote::kReady});
  const int status = wait_for_core(core, STDIN_FILENO);
  if (!place.own_namespace) sweep();
  tell(STDIN_FILENO, {SupervisorNote::kCoreEnded, status});
  ::_exit(0);
}

}  // namespace softtpu
