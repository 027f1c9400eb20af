// Bytes on their way out of a socket that must not block its owner: what does not fit now waits here.
#pragma once

#include <deque>
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
    parts_.emplace_back();
    append_frame(parts_.back().bytes, request, message, 1);
    parts_.back().fd = std::move(fd);
  }
  // A frame that was made before.
  void push_frame(const Bytes& frame) { tail().insert(tail().end(), frame.begin(), frame.end()); }
  void push_frame_with_fd(Bytes frame, UniqueFd fd) { parts_.push_back({std::move(frame), 0, std::move(fd)}); }

  bool empty() const { return parts_.empty(); }
  std::size_t bytes() const;
  void clear() { parts_.clear(); }
  // Sends what fits. True: everything is out.
  Result<bool> flush(int socket);

 private:
  struct Part {
    Bytes bytes;
    std::size_t sent = 0;
    UniqueFd fd;  // goes with the first byte
  };
  // Where plain bytes go: behind a descriptor's frame as well, since only its first byte carries the descriptor.
  Bytes& tail() {
    if (parts_.empty()) parts_.emplace_back();
    return parts_.back().bytes;
  }
  std::deque<Part> parts_;
};

}  // namespace softtpu
