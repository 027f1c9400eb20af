// What kinds of messages there are.
#pragma once

#include <cstdint>

namespace softtpu {

// Numbers on the wire; never reused for another meaning.
enum class MessageType : std::uint16_t {
  kHello = 1,
  kHelloReply = 2,
  kFailure = 3,
  kDone = 4,
  kAuthenticate = 5,
  kRemote = 6,
  kOpen = 10,
  kOpenReply = 11,
  kAllocate = 12,
  kAllocateReply = 13,
  kRelease = 14,
  kWrite = 15,
  kRead = 16,
  kReadReply = 17,
  kFill = 18,
  kCopy = 19,
  kHostNote = 20,
  kLoadModule = 30,
  kLoadModuleReply = 31,
  kUnloadModule = 32,
  kFindFunction = 33,
  kFindFunctionReply = 34,
  kLaunch = 40,
  kSync = 41,
  kSetTimeout = 42,
  kCloseStream = 43,
  kCancel = 44,
  kStat = 50,
  kStatReply = 51,
  kStreamTime = 52,
  kStreamTimeReply = 53,
  kFindingNote = 60,
  kFindingCount = 61,
  kAllowedNote = 62,
  kCoreLoad = 100,
  kCoreLoadReply = 101,
  kCoreUnload = 102,
  kCoreDefine = 103,
  kCoreLaunch = 104,
  kCoreDone = 105,
  kCoreExplain = 106,
  kCoreExplainReply = 107,
  kCoreWakeup = 108,
};

}  // namespace softtpu
