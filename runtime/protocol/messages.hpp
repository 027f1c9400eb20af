// The messages between a host program and a device. Each is a plain struct; encode, decode and print visit its members
// (wire.hpp). What each message means, who sends it and what answers it: README.md
// beside this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/protocol/launch.hpp"
#include "runtime/protocol/message_type.hpp"
#include "runtime/protocol/wire.hpp"
#include "runtime/report/finding.hpp"

namespace softtpu {

inline constexpr std::uint64_t kHelloMagic = 0x0055'5054'5446'4F53;  // "SOFTTPU" and a zero byte
inline constexpr std::uint32_t kProtocolVersion = 3;

enum class HostEvent : std::uint8_t {
  kAllocated,    // where the allocation at `address` was made
  kFreeing,      // where it will be released
  kWrote,        // through the shared mapping
  kRead,         // the same
  kRefusedCopy,  // `text` says why
  kClosed,       // the program gives the device back
  kSynced,       // it has waited for its launches
  // A copy that the chip does not order behind the launches that the program has not waited for; `text` is the
  // function.
  kUnorderedWrite,
  kUnorderedRead,
};

// In the failure of a launch by name: the host library adds what can be done about it.
inline constexpr const char* kNotRegistered = "no module registers it";

// Each message is named after the request or the answer: msg::Read, msg::ReadReply.
namespace msg {

// The first message of every connection. Its layout is fixed for all versions, so that any two builds can tell each
// other why they do not fit.
struct Hello {
  static constexpr MessageType kType = MessageType::kHello;
  std::uint64_t magic = kHelloMagic;
  std::uint32_t version = kProtocolVersion;
};

struct HelloReply {
  static constexpr MessageType kType = MessageType::kHelloReply;
  std::uint32_t version = kProtocolVersion;
  std::uint32_t device_count = 0;
};

// The first message of a remote client, to the gateway and inside TLS. The gateway answers it and passes on what
// follows.
struct Authenticate {
  static constexpr MessageType kType = MessageType::kAuthenticate;
  Bytes token;
};

// What a gateway says before the Hello that it passes on: the client at this address gets no descriptors. Not answered.
struct Remote {
  static constexpr MessageType kType = MessageType::kRemote;
  std::string address;
};

// The answer to a request that failed.
struct Failure {
  static constexpr MessageType kType = MessageType::kFailure;
  ErrorKind kind = ErrorKind::kInternal;
  std::string text;
};

// The answer to a request that succeeded and has nothing to return.
struct Done {
  static constexpr MessageType kType = MessageType::kDone;
};

// Chooses the device of this connection. share_memory asks for the descriptor of global memory.
struct Open {
  static constexpr MessageType kType = MessageType::kOpen;
  std::uint32_t device = 0;
  bool share_memory = false;
  std::string chip;  // name of the chip that it has to be; empty: any
};

// Carries one file descriptor (global memory) when it was asked for.
struct OpenReply {
  static constexpr MessageType kType = MessageType::kOpenReply;
  std::string chip_name;
  std::uint32_t chip_id = 0;
  bool soc_mode = false;
  bool in_process = false;
  std::uint32_t core_count = 0;
  std::uint64_t global_start = 0;
  std::uint64_t global_bytes = 0;
  std::uint64_t heap_start = 0;
  bool watched = false;  // checks want to know what the host does: HostNote
};

struct Allocate {
  static constexpr MessageType kType = MessageType::kAllocate;
  std::uint64_t bytes = 0;
};

struct AllocateReply {
  static constexpr MessageType kType = MessageType::kAllocateReply;
  std::uint64_t address = 0;
};

struct Release {
  static constexpr MessageType kType = MessageType::kRelease;
  std::uint64_t address = 0;
};

struct Write {
  static constexpr MessageType kType = MessageType::kWrite;
  std::uint64_t address = 0;
  Bytes data;
};

struct Read {
  static constexpr MessageType kType = MessageType::kRead;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

struct ReadReply {
  static constexpr MessageType kType = MessageType::kReadReply;
  Bytes data;
};

struct Fill {
  static constexpr MessageType kType = MessageType::kFill;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Bytes pattern;
};

// Strides count elements. A plain copy is one element.
struct Copy {
  static constexpr MessageType kType = MessageType::kCopy;
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t count = 0;
  std::uint32_t element_bytes = 1;
  std::uint32_t destination_stride = 1;
  std::uint32_t source_stride = 1;
};

// Tells checks what they cannot see: sent only to a device that said `watched`. Done answers if `wait`.
struct HostNote {
  static constexpr MessageType kType = MessageType::kHostNote;
  HostEvent event = HostEvent::kWrote;
  bool wait = false;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string text;
  std::vector<std::string> stack;  // innermost first
};

// The image comes as one file descriptor, or in the message itself.
struct LoadModule {
  static constexpr MessageType kType = MessageType::kLoadModule;
  std::string name;  // for messages to people: a path, or "(memory)"
  Bytes image;
};

struct LoadModuleReply {
  static constexpr MessageType kType = MessageType::kLoadModuleReply;
  std::uint32_t module = 0;
};

struct UnloadModule {
  static constexpr MessageType kType = MessageType::kUnloadModule;
  std::uint32_t module = 0;
};

struct FindFunction {
  static constexpr MessageType kType = MessageType::kFindFunction;
  std::uint32_t module = 0;
  std::string name;
};

struct FindFunctionReply {
  static constexpr MessageType kType = MessageType::kFindFunctionReply;
  std::uint32_t function = 0;
};

struct Sync {
  static constexpr MessageType kType = MessageType::kSync;
  std::uint32_t stream = 0;  // 0: all of this connection
};

struct SetTimeout {
  static constexpr MessageType kType = MessageType::kSetTimeout;
  std::uint32_t stream = 0;
  std::uint32_t milliseconds = 0;
};

// Ends what the stream's launches do and will do: each fails. A wait for one returns that failure.
struct Cancel {
  static constexpr MessageType kType = MessageType::kCancel;
  std::uint32_t stream = 0;  // 0: all of this connection
};

struct CloseStream {
  static constexpr MessageType kType = MessageType::kCloseStream;
  std::uint32_t stream = 0;
};

struct StreamTime {
  static constexpr MessageType kType = MessageType::kStreamTime;
  std::uint32_t stream = 0;
};

// Estimated nanoseconds on the chip; 0 while no launch was estimated.
struct StreamTimeReply {
  static constexpr MessageType kType = MessageType::kStreamTimeReply;
  std::uint64_t last_ns = 0;
  std::uint64_t total_ns = 0;
};

// What a check has found. A core says it of the launch that it works on, the server to the client that caused it; it
// comes before the answer to the request that it is about.
struct FindingNote {
  static constexpr MessageType kType = MessageType::kFindingNote;
  std::uint64_t id = 0;   // for FindingCount
  bool left_out = false;  // the list has no room for it (SOFTTPU_MAX_FINDINGS): it is only counted
  ReportedFinding finding;
};

// The finding with this id has come so many times more; `now` holds it as the latest launch has it, where its text is
// another one.
struct FindingCount {
  static constexpr MessageType kType = MessageType::kFindingCount;
  std::uint64_t id = 0;
  std::uint64_t count = 0;
  std::optional<ReportedFinding> now;
};

// So many findings were intended (SOFTTPU_ALLOW of the device).
struct AllowedNote {
  static constexpr MessageType kType = MessageType::kAllowedNote;
  std::string rule;
  std::string kernel;
  std::uint64_t count = 0;
};

struct Stat {
  static constexpr MessageType kType = MessageType::kStat;
};

struct ClientStat {
  std::uint32_t pid = 0;
  std::uint64_t bytes = 0;
  std::uint32_t modules = 0;
  std::uint32_t queued = 0;
  std::uint64_t launches = 0;
};

// A launch that failed, or a core that died.
struct FaultStat {
  std::uint64_t time = 0;  // seconds since 1970
  std::string text;
};

struct StatReply {
  static constexpr MessageType kType = MessageType::kStatReply;
  std::uint32_t server_pid = 0;
  std::uint32_t core_pid = 0;
  std::uint64_t bytes_total = 0;
  std::uint64_t bytes_used = 0;
  std::uint64_t launches = 0;
  std::uint64_t failures = 0;
  std::uint64_t core_restarts = 0;
  std::uint32_t queued = 0;
  std::vector<ClientStat> clients;
  std::vector<FaultStat> faults;  // the last ones, oldest first
};

}  // namespace msg
}  // namespace softtpu
