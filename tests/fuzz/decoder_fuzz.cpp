// Frames and messages: whatever arrives is refused or is a message that encodes to the same bytes again.
#include <algorithm>

#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"
#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

template <class Message>
void decode(const Frame& frame) {
  if (frame.type != Message::kType) return;
  const auto message = find_message<Message>(frame.payload);
  if (!message) return;
  static_cast<void>(to_text(*message));
  Bytes again;
  append_frame(again, frame.request, *message);
  require(std::equal(again.begin() + kFrameHeaderBytes, again.end(), frame.payload.begin(), frame.payload.end()),
          "a decoded message encodes to the bytes that it came from");
}

template <class... Messages>
void decode_one_of(const Frame& frame) {
  (decode<Messages>(frame), ...);
}

void decode_any(const Frame& frame) {
  decode_one_of<Hello, HelloReply, Authenticate, Remote, Failure, Done, Open, OpenReply, Allocate, AllocateReply,
                Release, Write, Read, ReadReply, Fill, Copy, LoadModule, LoadModuleReply, UnloadModule, FindFunction,
                FindFunctionReply, Launch, Sync, SetTimeout, CloseStream, Stat, StatReply, CoreLoad, CoreLoadReply,
                CoreUnload, CoreDefine, CoreLaunch, CoreDone>(frame);
}

}  // namespace
}  // namespace softtpu::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace softtpu;
  fuzz::Input input(data, bytes);
  FrameBuffer buffer;
  // In pieces, as a socket delivers them.
  const std::size_t piece = 1 + input.byte();
  while (!input.empty()) {
    const auto part = input.take_bytes(piece);
    const auto space = buffer.space(part.size());
    std::copy(part.begin(), part.end(), space.begin());
    buffer.received(part.size());
    for (;;) {
      const bool whole = buffer.has_frame();
      auto frame = buffer.next();
      if (!frame) return 0;
      fuzz::require(whole || !*frame, "a frame that is there was announced");
      if (!*frame) break;
      fuzz::decode_any(**frame);
    }
  }
  return 0;
}
