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
    case MessageType::kHello: return decode<msg::Hello>(frame);
    case MessageType::kHelloReply: return decode<msg::HelloReply>(frame);
    case MessageType::kFailure: return decode<msg::Failure>(frame);
    case MessageType::kDone: return decode<msg::Done>(frame);
    case MessageType::kAuthenticate: return decode<msg::Authenticate>(frame);
    case MessageType::kRemote: return decode<msg::Remote>(frame);
    case MessageType::kOpen: return decode<msg::Open>(frame);
    case MessageType::kOpenReply: return decode<msg::OpenReply>(frame);
    case MessageType::kAllocate: return decode<msg::Allocate>(frame);
    case MessageType::kAllocateReply: return decode<msg::AllocateReply>(frame);
    case MessageType::kRelease: return decode<msg::Release>(frame);
    case MessageType::kWrite: return decode<msg::Write>(frame);
    case MessageType::kRead: return decode<msg::Read>(frame);
    case MessageType::kReadReply: return decode<msg::ReadReply>(frame);
    case MessageType::kFill: return decode<msg::Fill>(frame);
    case MessageType::kCopy: return decode<msg::Copy>(frame);
    case MessageType::kHostNote: return decode<msg::HostNote>(frame);
    case MessageType::kLoadModule: return decode<msg::LoadModule>(frame);
    case MessageType::kLoadModuleReply: return decode<msg::LoadModuleReply>(frame);
    case MessageType::kUnloadModule: return decode<msg::UnloadModule>(frame);
    case MessageType::kFindFunction: return decode<msg::FindFunction>(frame);
    case MessageType::kFindFunctionReply: return decode<msg::FindFunctionReply>(frame);
    case MessageType::kLaunch: return decode<msg::Launch>(frame);
    case MessageType::kSync: return decode<msg::Sync>(frame);
    case MessageType::kSetTimeout: return decode<msg::SetTimeout>(frame);
    case MessageType::kCloseStream: return decode<msg::CloseStream>(frame);
    case MessageType::kCancel: return decode<msg::Cancel>(frame);
    case MessageType::kStat: return decode<msg::Stat>(frame);
    case MessageType::kStatReply: return decode<msg::StatReply>(frame);
    case MessageType::kStreamTime: return decode<msg::StreamTime>(frame);
    case MessageType::kStreamTimeReply: return decode<msg::StreamTimeReply>(frame);
    case MessageType::kFindingNote: return decode<msg::FindingNote>(frame);
    case MessageType::kFindingCount: return decode<msg::FindingCount>(frame);
    case MessageType::kAllowedNote: return decode<msg::AllowedNote>(frame);
    case MessageType::kCoreLoad: return decode<msg::CoreLoad>(frame);
    case MessageType::kCoreLoadReply: return decode<msg::CoreLoadReply>(frame);
    case MessageType::kCoreUnload: return decode<msg::CoreUnload>(frame);
    case MessageType::kCoreDefine: return decode<msg::CoreDefine>(frame);
    case MessageType::kCoreLaunch: return decode<msg::CoreLaunch>(frame);
    case MessageType::kCoreDone: return decode<msg::CoreDone>(frame);
    case MessageType::kCoreExplain: return decode<msg::CoreExplain>(frame);
    case MessageType::kCoreExplainReply: return decode<msg::CoreExplainReply>(frame);
    case MessageType::kCoreWakeup: return decode<msg::CoreWakeup>(frame);
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
