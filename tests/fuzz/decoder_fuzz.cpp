// Frames and messages: whatever arrives is refused or is a message that encodes to the same bytes again.
#include <algorithm>

#include "runtime/protocol/core_messages.hpp"
#include "runtime/protocol/frame.hpp"
#include "tests/fuzz/input.hpp"

namespace softtpu::fuzz {
namespace {

template <class Message>
void decode(const Frame& frame) {
  const auto message = find_message<Message>(frame.payload);
  if (!message) return;
  static_cast<void>(to_text(*message));
  Bytes again;
  append_frame(again, frame.request, *message);
  require(std::equal(again.begin() + kFrameHeaderBytes, again.end(), frame.payload.begin(), frame.payload.end()),
          "a decoded message encodes to the bytes that it came from");
}

// Without a default, so that a new message is not forgotten here. Other numbers come from the wire too.
void decode_any(const Frame& frame) {
  switch (frame.type) {
    case MessageType::kHello: return decode<Hello>(frame);
    case MessageType::kHelloReply: return decode<HelloReply>(frame);
    case MessageType::kFailure: return decode<Failure>(frame);
    case MessageType::kDone: return decode<Done>(frame);
    case MessageType::kAuthenticate: return decode<Authenticate>(frame);
    case MessageType::kRemote: return decode<Remote>(frame);
    case MessageType::kOpen: return decode<Open>(frame);
    case MessageType::kOpenReply: return decode<OpenReply>(frame);
    case MessageType::kAllocate: return decode<Allocate>(frame);
    case MessageType::kAllocateReply: return decode<AllocateReply>(frame);
    case MessageType::kRelease: return decode<Release>(frame);
    case MessageType::kWrite: return decode<Write>(frame);
    case MessageType::kRead: return decode<Read>(frame);
    case MessageType::kReadReply: return decode<ReadReply>(frame);
    case MessageType::kFill: return decode<Fill>(frame);
    case MessageType::kCopy: return decode<Copy>(frame);
    case MessageType::kHostNote: return decode<HostNote>(frame);
    case MessageType::kLoadModule: return decode<LoadModule>(frame);
    case MessageType::kLoadModuleReply: return decode<LoadModuleReply>(frame);
    case MessageType::kUnloadModule: return decode<UnloadModule>(frame);
    case MessageType::kFindFunction: return decode<FindFunction>(frame);
    case MessageType::kFindFunctionReply: return decode<FindFunctionReply>(frame);
    case MessageType::kLaunch: return decode<Launch>(frame);
    case MessageType::kSync: return decode<Sync>(frame);
    case MessageType::kSetTimeout: return decode<SetTimeout>(frame);
    case MessageType::kCloseStream: return decode<CloseStream>(frame);
    case MessageType::kCancel: return decode<Cancel>(frame);
    case MessageType::kStat: return decode<Stat>(frame);
    case MessageType::kStatReply: return decode<StatReply>(frame);
    case MessageType::kStreamTime: return decode<StreamTime>(frame);
    case MessageType::kStreamTimeReply: return decode<StreamTimeReply>(frame);
    case MessageType::kFindingNote: return decode<FindingNote>(frame);
    case MessageType::kFindingCount: return decode<FindingCount>(frame);
    case MessageType::kAllowedNote: return decode<AllowedNote>(frame);
    case MessageType::kCoreLoad: return decode<CoreLoad>(frame);
    case MessageType::kCoreLoadReply: return decode<CoreLoadReply>(frame);
    case MessageType::kCoreUnload: return decode<CoreUnload>(frame);
    case MessageType::kCoreDefine: return decode<CoreDefine>(frame);
    case MessageType::kCoreLaunch: return decode<CoreLaunch>(frame);
    case MessageType::kCoreDone: return decode<CoreDone>(frame);
    case MessageType::kCoreExplain: return decode<CoreExplain>(frame);
    case MessageType::kCoreExplainReply: return decode<CoreExplainReply>(frame);
    case MessageType::kCoreLook: return decode<CoreLook>(frame);
  }
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
