#include "runtime/transport/outbox.hpp"

#include <array>

#include "runtime/transport/socket.hpp"

namespace softtpu {

std::size_t Outbox::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.bytes.size() - part.sent;
  return bytes;
}

Result<bool> Outbox::flush(int socket) {
  while (!parts_.empty()) {
    Part& part = parts_.front();
    const std::array<int, 1> fds = {part.fd.get()};
    const auto sent =
        send_some(socket, std::span(part.bytes).subspan(part.sent), std::span(fds).first(part.fd ? 1 : 0));
    if (!sent) return sent.error();
    if (*sent == 0) return false;
    part.fd.reset();
    part.sent += *sent;
    if (part.sent == part.bytes.size()) parts_.pop_front();
  }
  return true;
}

}  // namespace softtpu
