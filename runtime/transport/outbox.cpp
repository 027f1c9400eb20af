#include "runtime/transport/outbox.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "runtime/transport/socket.hpp"

namespace softtpu {

void Outbox::begin_bytes(std::uint64_t request, MessageType type, std::uint32_t bytes) {
  Bytes head(kFrameHeaderBytes);
  wire::put_header(head.data(), sizeof(bytes) + bytes, type, 0, request);
  wire::append(head, bytes);
  push_frame(head);
  missing_ = bytes;
}

void Outbox::add_bytes(std::span<const std::uint8_t> piece) {
  const std::size_t left = std::exchange(missing_, 0) - piece.size();
  Bytes& to = tail();
  to.insert(to.end(), piece.begin(), piece.end());
  missing_ = left;
  if (missing_ > 0) return;
  std::move(behind_.begin(), behind_.end(), std::back_inserter(parts_));
  behind_.clear();
}

void Outbox::clear() {
  parts_.clear();
  behind_.clear();
  missing_ = 0;
}

std::size_t Outbox::bytes() const {
  std::size_t bytes = 0;
  for (const Part& part : parts_) bytes += part.bytes.size() - part.sent;
  for (const Part& part : behind_) bytes += part.bytes.size();
  return bytes;
}

Result<bool> Outbox::flush(int socket) {
  while (!parts_.empty()) {
    Part& part = parts_.front();
    std::array<int, kMaxFrameFds> fds{};
    const std::size_t count = std::min(fds.size(), part.fds.size());
    for (std::size_t i = 0; i < count; ++i) fds[i] = part.fds[i].get();
    const auto sent = send_some(socket, std::span(part.bytes).subspan(part.sent), std::span(fds).first(count));
    if (!sent) return sent.error();
    if (*sent == 0) return false;
    part.fds.clear();
    part.sent += *sent;
    if (part.sent == part.bytes.size()) parts_.pop_front();
  }
  return true;
}

}  // namespace softtpu
