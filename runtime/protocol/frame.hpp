// A frame: 16 bytes of header (payload length, message type, number of file descriptors, request id), then the payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "runtime/base/result.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/protocol/messages.hpp"

namespace softtpu {

inline constexpr std::size_t kFrameHeaderBytes = 16;
// The longest payload: a module image sent in the message itself.
inline constexpr std::uint32_t kMaxPayloadBytes = 64U << 20;
inline constexpr std::uint16_t kMaxFrameFds = 4;

// One received frame. The payload points into the FrameBuffer and is valid until its next call.
struct Frame {
  MessageType type{};
  std::uint64_t request = 0;
  std::span<const std::uint8_t> payload;
  std::vector<UniqueFd> fds;
};

// What a frame's header says.
struct FrameHeader {
  std::uint32_t payload_bytes = 0;
  MessageType type{};
  std::uint16_t fd_count = 0;
  std::uint64_t request = 0;
};

// Appends a whole frame to `out`.
template <class Message>
void append_frame(Bytes& out, std::uint64_t request, const Message& message, std::uint16_t fd_count = 0);

// Collects received bytes and descriptors and cuts them into frames. Trusts no length: a header that breaks a limit is
// an error, and memory grows with what has arrived, never with what a header announces.
class FrameBuffer {
 public:
  // Where to receive to, at least `bytes` long; then say how many arrived.
  std::span<std::uint8_t> space(std::size_t bytes);
  void received(std::size_t bytes) { end_ += bytes; }
  void received_fd(UniqueFd fd) { fds_.push_back(std::move(fd)); }
  std::size_t held_fds() const { return fds_.size(); }
  bool has_frame() const;
  // The next whole frame; nullopt when more bytes are needed.
  Result<std::optional<Frame>> next();

  // For frames that are too long to be waited for: the header of the next one, when it is here, what follows it so far,
  // and a way to take bytes away from the front. Nothing is checked.
  std::optional<FrameHeader> header() const;
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).subspan(begin_, end_ - begin_); }
  void take(std::size_t bytes) { begin_ += bytes; }

 private:
  Bytes bytes_;
  std::size_t begin_ = 0, end_ = 0;
  std::deque<UniqueFd> fds_;
};

// Decodes a whole payload: every byte is used and every field fits.
template <class Message>
std::optional<Message> find_message(std::span<const std::uint8_t> payload) {
  std::optional<Message> message(std::in_place);
  Decoder decoder(payload);
  decoder(*message);
  if (!decoder.ok() || !decoder.at_end()) message.reset();
  return message;
}

template <class Message>
std::string to_text(const Message& message) {
  Printer printer;
  printer.all_of(message);
  return std::string(members::type_name<Message>()) + printer.text();
}

namespace wire {
void put_header(std::uint8_t* at, std::size_t payload_bytes, MessageType type, std::uint16_t fd_count,
                std::uint64_t request);
FrameHeader get_header(const std::uint8_t* at);
}  // namespace wire

template <class Message>
void append_frame(Bytes& out, std::uint64_t request, const Message& message, std::uint16_t fd_count) {
  const std::size_t start = out.size();
  wire::append(out, message, kFrameHeaderBytes);
  wire::put_header(out.data() + start, out.size() - start - kFrameHeaderBytes, Message::kType, fd_count, request);
}

}  // namespace softtpu
