#include "device/server/core_process/core_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "device/server/core_process/supervisor.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/ownership.hpp"
#include "runtime/process/signals_blocked.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

constexpr int kStartMs = 10000;
constexpr int kEndMs = 5000;

struct Note {
  SupervisorMessage message;
  pid_t sender = 0;
};

std::optional<Note> receive_note(int channel, int wait_ms) {
  pollfd event{channel, POLLIN, 0};
  if (::poll(&event, 1, wait_ms) <= 0) return std::nullopt;
  Note got;
  iovec piece{&got.message, sizeof got.message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (::recvmsg(channel, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof got.message) return std::nullopt;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred who{};
    std::memcpy(&who, CMSG_DATA(part), sizeof who);
    got.sender = who.pid;
  }
  return got;
}

// Two ends of a channel of whole messages; the first one gets the sender's process number.
Result<std::pair<UniqueFd, UniqueFd>> make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error(ErrorKind::kResource, "socketpair");
  std::pair<UniqueFd, UniqueFd> channel{UniqueFd(ends[0]), UniqueFd(ends[1])};
  const int on = 1;
  if (::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
    return system_error(ErrorKind::kResource, "setsockopt");
  return channel;
}

// Of something that may be there again later.
bool is_shortage(int error) { return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE; }

// A fork as the first process of a namespace. It must not use what the C library remembers of the process.
pid_t fork_into(const Confinement& place) {
  if (!place.own_namespace) return ::fork();
  const int flags = CLONE_NEWPID | (place.own_user ? CLONE_NEWUSER : 0) | SIGCHLD;
  return static_cast<pid_t>(::syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr));
}

// ThreadSanitizer follows no raw clone.
#if defined(__SANITIZE_THREAD__)
constexpr bool kCanClone = false;
#else
constexpr bool kCanClone = true;
#endif

}  // namespace

CoreProcess::CoreProcess(CoreProcess&& other) noexcept { *this = std::move(other); }

CoreProcess& CoreProcess::operator=(CoreProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(supervisor_, other.supervisor_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(channel_, other.channel_);
  std::swap(own_namespace_, other.own_namespace_);
  return *this;
}

CoreProcess::~CoreProcess() { finish(); }

Result<CoreProcess> CoreProcess::start(const CoreSetup& setup, UniqueFd socket) {
  // What a machine has refused once is not asked for again.
  static bool allowed = kCanClone;
  if (allowed && setup.own_namespace) {
    auto started = start(setup, socket, true);
    if (started || started.error().kind == ErrorKind::kResource) return started;
    allowed = false;
    log_info(fmt::format("cores have no PID namespace here ({})", started.error().text));
  }
  return start(setup, socket, false);
}

// An error other than kResource: this machine has no such namespaces for this user.
Result<CoreProcess> CoreProcess::start(const CoreSetup& setup, const UniqueFd& socket, bool own_namespace) {
  auto channel = make_channel();
  if (!channel) return channel.error();
  std::fflush(nullptr);  // the child must not write what waits in the buffers of this process
  // Root needs no user namespace, and would lose its right to others' files in one.
  const Confinement place{own_namespace, own_namespace && ::geteuid() != 0, ::geteuid(), ::getegid()};
  CoreProcess process;
  process.own_namespace_ = own_namespace;
  {
    const SignalsBlocked blocked;
    process.supervisor_ = fork_into(place);
    if (process.supervisor_ == 0) run_supervisor(setup, UniqueFd(socket.get()), channel->second, place);
  }
  if (process.supervisor_ < 0) {
    const bool refused = own_namespace && !is_shortage(errno);
    return system_error(refused ? ErrorKind::kUsage : ErrorKind::kResource, "fork");
  }
  process.channel_ = std::move(channel->first);
  process.pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, process.supervisor_, 0)));
  channel->second.reset();
  // Its end would not be noticed.
  if (!process.pidfd_) return system_error(ErrorKind::kResource, "pidfd_open");
  const ErrorKind refused = own_namespace ? ErrorKind::kUsage : ErrorKind::kResource;
  bool ready = false;
  while (!ready || process.pid_ <= 0) {
    const auto got = receive_note(process.channel_.get(), kStartMs);
    if (!got) return Error{refused, "a core's supervisor ended at once"};
    if (got->message.note == SupervisorNote::kFailed) {
      errno = got->message.status;
      return system_error(is_shortage(errno) ? ErrorKind::kResource : refused, "a core's supervisor");
    }
    if (got->message.note == SupervisorNote::kCoreIsHere) process.pid_ = got->sender;
    ready = ready || got->message.note == SupervisorNote::kReady;
  }
  return process;
}

void CoreProcess::signal(int number) const {
  if (pid_ <= 0 || !has_ownership()) return;
  ::kill(pid_, number);
  // Without a namespace a kernel can stop its supervisor, which then would not see the core's end.
  if (number == SIGKILL) ::kill(supervisor_, SIGCONT);
}

int CoreProcess::finish() {
  int status = SIGKILL;
  if (supervisor_ <= 0 || !has_ownership()) return status;
  const auto read_status = [&] {
    while (const auto got = channel_ ? receive_note(channel_.get(), 0) : std::nullopt) {
      if (got->message.note == SupervisorNote::kCoreEnded) status = got->message.status;
    }
  };
  read_status();
  if (own_namespace_) {
    ::kill(supervisor_, SIGKILL);
  } else {
    // It ends the others when the channel is closed.
    if (channel_) ::shutdown(channel_.get(), SHUT_RDWR);
    signal(SIGKILL);
    pollfd end{pidfd_.get(), POLLIN, 0};
    if (pidfd_ && ::poll(&end, 1, kEndMs) <= 0) ::kill(supervisor_, SIGKILL);
  }
  ::waitpid(supervisor_, nullptr, __WALL);
  supervisor_ = pid_ = -1;
  pidfd_.reset();
  channel_.reset();
  return status;
}

}  // namespace softtpu
