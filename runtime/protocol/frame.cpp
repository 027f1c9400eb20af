#include "runtime/protocol/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace softtpu {
namespace wire {

void put_header(std::uint8_t* at, std::size_t payload_bytes, MessageType type, std::uint16_t fd_count,
                std::uint64_t request) {
  using namespace boost::endian;
  store_little_u32(at, static_cast<std::uint32_t>(payload_bytes));
  store_little_u16(at + 4, static_cast<std::uint16_t>(type));
  store_little_u16(at + 6, fd_count);
  store_little_u64(at + 8, request);
}

FrameHeader get_header(const std::uint8_t* at) {
  using namespace boost::endian;
  return {load_little_u32(at), static_cast<MessageType>(load_little_u16(at + 4)), load_little_u16(at + 6),
          load_little_u64(at + 8)};
}

}  // namespace wire

std::span<std::uint8_t> FrameBuffer::space(std::size_t bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (begin_ > 0 && bytes_.size() - end_ < bytes) {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_), bytes_.begin() + static_cast<std::ptrdiff_t>(end_),
              bytes_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() - end_ < bytes) bytes_.resize(std::max(end_ + bytes, bytes_.size() + bytes_.size() / 2));
  return std::span(bytes_).subspan(end_);
}

bool FrameBuffer::has_frame() const {
  if (end_ - begin_ < kFrameHeaderBytes) return false;
  const FrameHeader header = wire::get_header(bytes_.data() + begin_);
  // A header over the limit counts as a frame: next() reports it.
  return header.payload_bytes > kMaxPayloadBytes || end_ - begin_ >= kFrameHeaderBytes + header.payload_bytes;
}

std::optional<FrameHeader> FrameBuffer::header() const {
  if (end_ - begin_ < kFrameHeaderBytes) return std::nullopt;
  return wire::get_header(bytes_.data() + begin_);
}

Result<std::optional<Frame>> FrameBuffer::next() {
  if (end_ - begin_ < kFrameHeaderBytes) return std::optional<Frame>();
  const FrameHeader header = wire::get_header(bytes_.data() + begin_);
  if (header.payload_bytes > kMaxPayloadBytes) {
    return Error{ErrorKind::kConnection,
                 fmt::format("a frame of {} bytes is over the limit of {}", header.payload_bytes, kMaxPayloadBytes)};
  }
  if (header.fd_count > kMaxFrameFds) {
    return Error{ErrorKind::kConnection,
                 fmt::format("a frame with {} descriptors is over the limit of {}", header.fd_count, kMaxFrameFds)};
  }
  if (end_ - begin_ < kFrameHeaderBytes + header.payload_bytes) return std::optional<Frame>();
  // Descriptors travel with the first byte of their frame, so a complete frame without them will never get them.
  if (header.fd_count > fds_.size()) {
    return Error{ErrorKind::kConnection,
                 fmt::format("a frame announces {} descriptors, but {} came", header.fd_count, fds_.size())};
  }
  std::optional<Frame> frame(std::in_place);
  frame->type = header.type;
  frame->request = header.request;
  frame->payload = std::span(bytes_).subspan(begin_ + kFrameHeaderBytes, header.payload_bytes);
  for (int i = 0; i < header.fd_count; ++i) {
    frame->fds.push_back(std::move(fds_.front()));
    fds_.pop_front();
  }
  begin_ += kFrameHeaderBytes + header.payload_bytes;
  return frame;
}

}  // namespace softtpu
