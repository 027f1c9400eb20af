#include "device/server/startup/unix_socket_path.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "runtime/base/ownership.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {
namespace {

namespace fs = std::filesystem;

constexpr int kBacklog = 64;
// How long another server may take to start or to end.
constexpr std::chrono::milliseconds kPatience{2000};
constexpr std::chrono::milliseconds kPause{5};

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return Error{ErrorKind::kUsage, fmt::format("a socket path of {} characters is outside 1..{}.", path.size(),
                                                sizeof(address.sun_path) - 1)};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// Servers that start and end in the same folder do so one after the other. In a folder that others can lock too, no
// server waits for ever: without the lock a server may have to look for its socket once more.
UniqueFd lock_folder(const std::string& path) {
  const std::string folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path().string() : ".";
  UniqueFd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPause);
  return lock;
}

// A socket without a listener may be replaced. Only a refused connection shows that there is none; one that fails for
// lack of descriptors, or of room in the queue of a busy server, does not.
Result<void> check_abandoned(const std::string& path, const sockaddr_un& address) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return system_error(ErrorKind::kResource, "socket");
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 || errno == EAGAIN)
    return Error{ErrorKind::kUsage, "another server listens on " + path + "."};
  if (errno == ECONNREFUSED || errno == ENOENT) return {};
  return system_error(ErrorKind::kResource, path);
}

Result<void> make_way(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode) || status.st_uid != ::getuid()) {
    return Error{ErrorKind::kUsage, path + " exists and is not a socket of this user."};
  }
  return check_abandoned(path, address);
}

}  // namespace

Result<UniqueFd> UnixSocketPath::listen(const std::string& path) {
  auto address = address_of(path);
  if (!address) return address.error();
  // Under another name until it listens: a server that looks in between would take it for abandoned. A path that has no
  // room for a longer name is taken at once; the lock has to do then.
  std::string made = fmt::format("{}.{}", path, ::getpid());
  auto made_address = address_of(made);
  if (!made_address) {
    made = path;
    made_address = address;
  }
  const UniqueFd lock = lock_folder(path);
  if (auto way = make_way(path, *address); !way) return way.error();
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener) return system_error(ErrorKind::kResource, "socket");
  ::unlink(made.c_str());  // of a process that had this number and was killed, or the abandoned one
  // The mode is right from the first moment on, not only after a chmod.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*made_address), sizeof(*made_address));
  ::umask(before);
  if (bound != 0) return system_error(ErrorKind::kResource, "binding " + path);
  struct stat status {};
  const bool placed = ::listen(listener.get(), kBacklog) == 0 && ::lstat(made.c_str(), &status) == 0 &&
                      ::rename(made.c_str(), path.c_str()) == 0;
  if (!placed) {
    const Error error = system_error(ErrorKind::kResource, "listening on " + path);
    ::unlink(made.c_str());
    return error;
  }
  path_ = path;
  device_ = status.st_dev;
  number_ = status.st_ino;
  return listener;
}

bool UnixSocketPath::is_ours() const {
  struct stat status {};
  return !path_.empty() && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == number_ && S_ISSOCK(status.st_mode);
}

void UnixSocketPath::leave() {
  if (path_.empty()) return;
  const UniqueFd lock = lock_folder(path_);
  if (has_ownership() && is_ours()) ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace softtpu
