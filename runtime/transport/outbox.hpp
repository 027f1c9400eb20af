// Bytes on their way out of a socket that must not block its owner: what does not fit now waits here.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/frame.hpp"

namespace softtpu {

class Outbox {
 public:
  template <class Message>
  void push(std::uint64_t request, const Message& message) {
    append_frame(tail(), request, message);
  }
  template <class Message>
  void push_with_fd(std::uint64_t request, const Message& message, UniqueFd fd) {
    Bytes frame;
    append_frame(frame, request, message, 1);
    push_frame_with_fd(std::move(frame), std::move(fd));
  }
  // A frame that was made before.
  void push_frame(const Bytes& frame) {
    Bytes& to = tail();
    to.insert(to.end(), frame.begin(), frame.end());
  }
  void push_frame_with_fd(Bytes frame, UniqueFd fd) {
    std::vector<UniqueFd> fds;
    fds.push_back(std::move(fd));
    push_frame_with_fds(std::move(frame), std::move(fds));
  }
  // At most kMaxFrameFds.
  void push_frame_with_fds(Bytes frame, std::vector<UniqueFd> fds) {
    last().push_back({std::move(frame), 0, std::move(fds)});
  }
  // A frame whose payload is one byte string that comes in pieces, so that it need not be in memory as a whole. Frames
  // that are pushed meanwhile follow it.
  void begin_bytes(std::uint64_t request, MessageType type, std::uint32_t bytes);
  void add_bytes(std::span<const std::uint8_t> piece);

  bool empty() const { return parts_.empty(); }
  std::size_t bytes() const;
  void clear();
  // Sends what fits. True: everything is out.
  Result<bool> flush(int socket);

 private:
  struct Part {
    Bytes bytes;
    std::size_t sent = 0;
    std::vector<UniqueFd> fds;  // go with the first byte
  };
  // What is sent is given up part by part: a part that bytes are always added to would never go.
  static constexpr std::size_t kPartBytes = 256 << 10;

  std::deque<Part>& last() { return missing_ > 0 ? behind_ : parts_; }
  // Where plain bytes go: behind a descriptor's frame as well, since only its first byte carries the descriptor.
  Bytes& tail() {
    std::deque<Part>& parts = last();
    if (parts.empty() || parts.back().bytes.size() > kPartBytes) parts.emplace_back();
    return parts.back().bytes;
  }
  std::deque<Part> parts_;
  std::size_t missing_ = 0;  // of the frame that comes in pieces
  std::deque<Part> behind_;  // waits for its end
};

}  // namespace softtpu
