// Connected Unix stream sockets: making them, and moving bytes and descriptors. None of it raises SIGPIPE.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/frame.hpp"
#include "runtime/transport/adaptive_spin.hpp"

namespace softtpu {

// "connect: Connection refused" with the errno of the call that just failed.
Error system_error(ErrorKind kind, const std::string& what);

Result<std::pair<UniqueFd, UniqueFd>> make_socket_pair();
Result<UniqueFd> connect_unix(const std::string& path);

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
Result<Peer> find_peer(int socket);

// Sends everything, waiting for room. The descriptors go with the first byte.
Result<void> send_all(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds = {});
// Sends what fits now; the number of bytes taken. Descriptors are taken with the first byte.
Result<std::size_t> send_some(int socket, std::span<const std::uint8_t> bytes, std::span<const int> fds = {});

enum class Received { kBytes, kNothing, kEnd };
// Receives once into the buffer. kNothing: no data now (only when `wait` is false). kEnd: the peer is gone.
Result<Received> receive(int socket, FrameBuffer& buffer, bool wait);
// Waits for data that is expected soon: looks for it before the thread sleeps.
Result<Received> receive_soon(int socket, FrameBuffer& buffer, AdaptiveSpin& wait);
// The same, but kNothing when the time has passed or a signal has come.
Result<Received> receive_within(int socket, FrameBuffer& buffer, AdaptiveSpin& wait, std::chrono::milliseconds longest);

}  // namespace softtpu
