#include "runtime/transport/refuse.hpp"

#include "runtime/protocol/frame.hpp"
#include "runtime/transport/socket.hpp"

namespace softtpu {

void refuse(UniqueFd socket, const Error& error) {
  FrameBuffer in;
  std::uint64_t request = 0;
  while (!in.has_frame()) {
    auto received = receive(socket.get(), in, true);
    if (!received || *received == Received::kEnd) return;
  }
  if (auto frame = in.next(); frame && *frame) request = (*frame)->request;
  Bytes out;
  append_frame(out, request, msg::Failure{error.kind, error.text});
  static_cast<void>(send_all(socket.get(), out));
}

}  // namespace softtpu
