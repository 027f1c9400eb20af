#include "runtime/transport/socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace softtpu {
namespace {

constexpr std::size_t kReceiveBytes = 64 << 10;

union ControlBuffer {
  char bytes[CMSG_SPACE(sizeof(int) * kMaxFrameFds)];
  cmsghdr align;
};

ssize_t send_once(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds, int flags) {
  if (fds.empty()) return ::send(socket, bytes.data(), bytes.size(), flags);
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  return ::sendmsg(socket, &message, flags);
}

void take_fds(msghdr& message, FrameBuffer& buffer) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      buffer.received_fd(UniqueFd(fd));
    }
  }
}

}  // namespace

Error system_error(ErrorKind kind, const std::string& what) {
  const int code = errno;
  return Error{kind, fmt::format("{}: {}", what, std::strerror(code))};
}

Result<std::pair<UniqueFd, UniqueFd>> make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return system_error(ErrorKind::kResource, "socketpair");
  return std::pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

Result<UniqueFd> connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{ErrorKind::kUsage, fmt::format("the socket path {} has {} characters (limit {})", path, path.size(),
                                                sizeof(address.sun_path) - 1)};
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return system_error(ErrorKind::kResource, "socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return system_error(ErrorKind::kConnection, "connecting to " + path);
  }
  return fd;
}

Result<Peer> find_peer(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0) {
    return system_error(ErrorKind::kConnection, "SO_PEERCRED");
  }
  return Peer{credentials.pid, credentials.uid};
}

Result<std::size_t> send_some(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds) {
  for (;;) {
    const ssize_t sent = send_once(socket, bytes, fds, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return std::size_t{0};
    if (errno != EINTR) return system_error(ErrorKind::kConnection, "send");
  }
}

Result<void> send_all(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds) {
  while (!bytes.empty()) {
    const ssize_t sent = send_once(socket, bytes, fds, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return system_error(ErrorKind::kConnection, "send");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
    fds = {};
  }
  return {};
}

Result<Received> receive(int socket, FrameBuffer& buffer, bool wait) {
  const auto space = buffer.space(kReceiveBytes);
  iovec part{space.data(), space.size()};
  ControlBuffer control{};
  for (;;) {
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof(control.bytes);
    const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    if (got > 0) {
      // Without memory for a descriptor its frame lacks it, which is noticed; bytes must not be lost.
      buffer.received(static_cast<std::size_t>(got));
      take_fds(message, buffer);
      // More descriptors than any frame carries: the peer does not speak this protocol.
      if (buffer.held_fds() > 16 * kMaxFrameFds)
        return Error{ErrorKind::kConnection, "the peer sent descriptors that no message announced"};
      return Received::kBytes;
    }
    if (got == 0) return Received::kEnd;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Received::kNothing;
    if (errno == ECONNRESET) return Received::kEnd;
    if (errno != EINTR) return system_error(ErrorKind::kConnection, "recv");
  }
}

namespace {

// Looks for data before the thread sleeps: nullopt when there is none yet.
std::optional<Result<Received>> look_for_data(int socket, FrameBuffer& buffer, AdaptiveSpin& wait) {
  Result<Received> received = Received::kNothing;
  const auto is_here = [&] {
    received = receive(socket, buffer, false);
    return !received || *received != Received::kNothing;
  };
  if (wait.is_worth_it() && wait.look(is_here)) return received;
  return std::nullopt;
}

}  // namespace

Result<Received> receive_soon(int socket, FrameBuffer& buffer, AdaptiveSpin& wait) {
  if (auto found = look_for_data(socket, buffer, wait)) return *std::move(found);
  return receive(socket, buffer, true);
}

Result<Received> receive_within(int socket, FrameBuffer& buffer, AdaptiveSpin& wait,
                                std::chrono::milliseconds longest) {
  if (auto found = look_for_data(socket, buffer, wait)) return *std::move(found);
  pollfd data{socket, POLLIN, 0};
  if (::poll(&data, 1, static_cast<int>(longest.count())) <= 0) return Received::kNothing;
  return receive(socket, buffer, false);
}

}  // namespace softtpu
