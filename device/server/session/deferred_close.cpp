#include "device/server/session/deferred_close.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "device/memory/shared_ranges.hpp"
#include "runtime/base/log.hpp"
#include "runtime/process/signals_blocked.hpp"

namespace softtpu {
namespace {

// Given back within a third of a millisecond.
constexpr std::int64_t kSmallBytes = 4 << 20;
// How long a file is kept at least: the server and its cores close theirs meanwhile, so that none of them is the last.
constexpr useconds_t kKeptUs = 50'000;
constexpr int kNice = 10;

// One byte with one descriptor.
struct FdMessage {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};

  FdMessage() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
};

[[noreturn]] void run_closer(int socket) {
  ::prctl(PR_SET_NAME, "softtpu-closer");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Threads that are woken go first; it still gets a tenth of a busy processor.
  if (::nice(kNice) < 0) errno = 0;  // as it was, then
  // It goes with the server, not with what a terminal sends to both.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
  take_signals();
  ::dup2(socket, STDIN_FILENO);
  ::syscall(SYS_close_range, 1U, ~0U, 0U);
  keep_shared_ranges({});
  for (;;) {
    FdMessage message;
    const ssize_t got = ::recvmsg(STDIN_FILENO, &message.message, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    const cmsghdr* header = CMSG_FIRSTHDR(&message.message);
    if (header == nullptr || header->cmsg_type != SCM_RIGHTS) continue;
    int file = -1;
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
    ::usleep(kKeptUs);
    ::close(file);
  }
}

class Closer {
 public:
  // False: there is none, or it has too much to do.
  bool take(int file) {
    if (!socket_ && !start()) return false;
    FdMessage message;
    cmsghdr* header = CMSG_FIRSTHDR(&message.message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
    if (::sendmsg(socket_.get(), &message.message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) return true;
    if (errno != EAGAIN) end();
    return false;
  }

 private:
  bool start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    socket_.reset(ends[0]);
    const UniqueFd other(ends[1]);
    const SignalsBlocked blocked;
    process_ = ::fork();
    if (process_ == 0) run_closer(other.get());
    if (process_ < 0) socket_.reset();
    return process_ > 0;
  }
  // It was ended from outside: the next file starts another one.
  void end() {
    socket_.reset();
    ::waitpid(process_, nullptr, WNOHANG);
  }

  UniqueFd socket_;
  pid_t process_ = -1;
};

}  // namespace

void close_deferred(UniqueFd file) {
  static Closer closer;
  struct stat status {};
  constexpr std::int64_t kBlock = 512;
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_blocks * kBlock <= kSmallBytes) return;
  if (!closer.take(file.get())) log_info("a large module is closed by the server itself");
}

std::shared_ptr<UniqueFd> deferred_close(UniqueFd file) {
  return {new UniqueFd(std::move(file)), [](UniqueFd* last) {
            close_deferred(std::move(*last));
            delete last;
          }};
}

}  // namespace softtpu
