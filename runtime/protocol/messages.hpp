// The messages between a host program and a device. Each is a plain struct with one list of its fields; encode, decode
// and print are visitors of that list (wire.hpp). What each message means, who sends it and what answers it: README.md
// beside this file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/protocol/wire.hpp"

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

inline constexpr std::uint64_t kHelloMagic = 0x0055'5054'5446'4F53;  // "SOFTTPU" and a zero byte
inline constexpr std::uint32_t kProtocolVersion = 2;

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

// The limits of any SDK. The host libraries refuse what is above them, and the server whatever comes from elsewhere.
inline constexpr std::size_t kMaxKernelName = 64;     // characters
inline constexpr std::size_t kMaxLaunchArgs = 65536;  // bytes; libbmlib's limit is lower

// In the failure of a launch by name: the host library adds what can be done about it.
inline constexpr const char* kNotRegistered = "no module registers it";

// Each message is named after the request or the answer: msg::Read, msg::ReadReply.
namespace msg {

// The first message of every connection. Its layout is fixed for all versions, so that any two builds can tell each
// other why they do not fit.
struct Hello {
  static constexpr MessageType kType = MessageType::kHello;
  static constexpr const char* kName = "Hello";
  std::uint64_t magic = kHelloMagic;
  std::uint32_t version = kProtocolVersion;
  template <class V>
  void fields(V& v) {
    v("magic", magic);
    v("version", version);
  }
};

struct HelloReply {
  static constexpr MessageType kType = MessageType::kHelloReply;
  static constexpr const char* kName = "HelloReply";
  std::uint32_t version = kProtocolVersion;
  std::uint32_t device_count = 0;
  template <class V>
  void fields(V& v) {
    v("version", version);
    v("device_count", device_count);
  }
};

// The first message of a remote client, to the gateway and inside TLS. The gateway answers it and passes on what
// follows.
struct Authenticate {
  static constexpr MessageType kType = MessageType::kAuthenticate;
  static constexpr const char* kName = "Authenticate";
  Bytes token;
  template <class V>
  void fields(V& v) {
    v("token", token);
  }
};

// What a gateway says before the Hello that it passes on: the client at this address gets no descriptors. Not answered.
struct Remote {
  static constexpr MessageType kType = MessageType::kRemote;
  static constexpr const char* kName = "Remote";
  std::string address;
  template <class V>
  void fields(V& v) {
    v("address", address);
  }
};

// The answer to a request that failed.
struct Failure {
  static constexpr MessageType kType = MessageType::kFailure;
  static constexpr const char* kName = "Failure";
  ErrorKind kind = ErrorKind::kInternal;
  std::string text;
  template <class V>
  void fields(V& v) {
    v("kind", kind);
    v("text", text);
  }
};

// The answer to a request that succeeded and has nothing to return.
struct Done {
  static constexpr MessageType kType = MessageType::kDone;
  static constexpr const char* kName = "Done";
  template <class V>
  void fields(V&) {}
};

// Chooses the device of this connection. share_memory asks for the descriptor of global memory.
struct Open {
  static constexpr MessageType kType = MessageType::kOpen;
  static constexpr const char* kName = "Open";
  std::uint32_t device = 0;
  bool share_memory = false;
  std::string chip;  // name of the chip that it has to be; empty: any
  template <class V>
  void fields(V& v) {
    v("device", device);
    v("share_memory", share_memory);
    v("chip", chip);
  }
};

// Carries one file descriptor (global memory) when it was asked for.
struct OpenReply {
  static constexpr MessageType kType = MessageType::kOpenReply;
  static constexpr const char* kName = "OpenReply";
  std::string chip_name;
  std::uint32_t chip_id = 0;
  bool soc_mode = false;
  bool in_process = false;
  std::uint32_t core_count = 0;
  std::uint64_t global_start = 0;
  std::uint64_t global_bytes = 0;
  std::uint64_t heap_start = 0;
  bool watched = false;  // checks want to know what the host does: HostNote
  template <class V>
  void fields(V& v) {
    v("chip_name", chip_name);
    v("chip_id", chip_id);
    v("soc_mode", soc_mode);
    v("in_process", in_process);
    v("core_count", core_count);
    v("global_start", global_start);
    v("global_bytes", global_bytes);
    v("heap_start", heap_start);
    v("watched", watched);
  }
};

struct Allocate {
  static constexpr MessageType kType = MessageType::kAllocate;
  static constexpr const char* kName = "Allocate";
  std::uint64_t bytes = 0;
  template <class V>
  void fields(V& v) {
    v("bytes", bytes);
  }
};

struct AllocateReply {
  static constexpr MessageType kType = MessageType::kAllocateReply;
  static constexpr const char* kName = "AllocateReply";
  std::uint64_t address = 0;
  template <class V>
  void fields(V& v) {
    v("address", address);
  }
};

struct Release {
  static constexpr MessageType kType = MessageType::kRelease;
  static constexpr const char* kName = "Release";
  std::uint64_t address = 0;
  template <class V>
  void fields(V& v) {
    v("address", address);
  }
};

struct Write {
  static constexpr MessageType kType = MessageType::kWrite;
  static constexpr const char* kName = "Write";
  std::uint64_t address = 0;
  Bytes data;
  template <class V>
  void fields(V& v) {
    v("address", address);
    v("data", data);
  }
};

struct Read {
  static constexpr MessageType kType = MessageType::kRead;
  static constexpr const char* kName = "Read";
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  template <class V>
  void fields(V& v) {
    v("address", address);
    v("bytes", bytes);
  }
};

struct ReadReply {
  static constexpr MessageType kType = MessageType::kReadReply;
  static constexpr const char* kName = "ReadReply";
  Bytes data;
  template <class V>
  void fields(V& v) {
    v("data", data);
  }
};

struct Fill {
  static constexpr MessageType kType = MessageType::kFill;
  static constexpr const char* kName = "Fill";
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Bytes pattern;
  template <class V>
  void fields(V& v) {
    v("address", address);
    v("bytes", bytes);
    v("pattern", pattern);
  }
};

// Strides count elements. A plain copy is one element.
struct Copy {
  static constexpr MessageType kType = MessageType::kCopy;
  static constexpr const char* kName = "Copy";
  std::uint64_t destination = 0;
  std::uint64_t source = 0;
  std::uint64_t count = 0;
  std::uint32_t element_bytes = 1;
  std::uint32_t destination_stride = 1;
  std::uint32_t source_stride = 1;
  template <class V>
  void fields(V& v) {
    v("destination", destination);
    v("source", source);
    v("count", count);
    v("element_bytes", element_bytes);
    v("destination_stride", destination_stride);
    v("source_stride", source_stride);
  }
};

// Tells checks what they cannot see: sent only to a device that said `watched`. Done answers if `wait`.
struct HostNote {
  static constexpr MessageType kType = MessageType::kHostNote;
  static constexpr const char* kName = "HostNote";
  HostEvent event = HostEvent::kWrote;
  bool wait = false;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string text;
  std::vector<std::string> stack;  // innermost first
  template <class V>
  void fields(V& v) {
    v("event", event);
    v("wait", wait);
    v("address", address);
    v("bytes", bytes);
    v("text", text);
    v("stack", stack);
  }
};

// The image comes as one file descriptor, or in the message itself.
struct LoadModule {
  static constexpr MessageType kType = MessageType::kLoadModule;
  static constexpr const char* kName = "LoadModule";
  std::string name;  // for messages to people: a path, or "(memory)"
  Bytes image;
  template <class V>
  void fields(V& v) {
    v("name", name);
    v("image", image);
  }
};

struct LoadModuleReply {
  static constexpr MessageType kType = MessageType::kLoadModuleReply;
  static constexpr const char* kName = "LoadModuleReply";
  std::uint32_t module = 0;
  template <class V>
  void fields(V& v) {
    v("module", module);
  }
};

struct UnloadModule {
  static constexpr MessageType kType = MessageType::kUnloadModule;
  static constexpr const char* kName = "UnloadModule";
  std::uint32_t module = 0;
  template <class V>
  void fields(V& v) {
    v("module", module);
  }
};

struct FindFunction {
  static constexpr MessageType kType = MessageType::kFindFunction;
  static constexpr const char* kName = "FindFunction";
  std::uint32_t module = 0;
  std::string name;
  template <class V>
  void fields(V& v) {
    v("module", module);
    v("name", name);
  }
};

struct FindFunctionReply {
  static constexpr MessageType kType = MessageType::kFindFunctionReply;
  static constexpr const char* kName = "FindFunctionReply";
  std::uint32_t function = 0;
  template <class V>
  void fields(V& v) {
    v("function", function);
  }
};

// One more core of a launch, with a function and arguments of its own.
struct LaunchPart {
  std::uint32_t core = 0;
  std::uint32_t function = 0;
  Bytes args;
  template <class V>
  void fields(V& v) {
    v("core", core);
    v("function", function);
    v("args", args);
  }
};

// A launch on one core (blocks 1), on `blocks` cores from `core` on, all with the same arguments, or on `core` and
// those of `others`. All of them do it `groups` times. Answered when the kernel has returned if `wait`, else not at
// all: Sync reports what happened.
struct Launch {
  static constexpr MessageType kType = MessageType::kLaunch;
  static constexpr const char* kName = "Launch";
  std::uint32_t stream = 0;
  std::uint32_t function = 0;  // 0: by name
  std::uint32_t core = 0;
  bool wait = true;
  std::string name;
  Bytes args;
  std::vector<LaunchPart> others{};
  std::uint32_t blocks = 1, groups = 1;
  template <class V>
  void fields(V& v) {
    v("stream", stream);
    v("function", function);
    v("core", core);
    v("wait", wait);
    v("name", name);
    v("args", args);
    v("others", others);
    v("blocks", blocks);
    v("groups", groups);
  }
};

struct Sync {
  static constexpr MessageType kType = MessageType::kSync;
  static constexpr const char* kName = "Sync";
  std::uint32_t stream = 0;  // 0: all of this connection
  template <class V>
  void fields(V& v) {
    v("stream", stream);
  }
};

struct SetTimeout {
  static constexpr MessageType kType = MessageType::kSetTimeout;
  static constexpr const char* kName = "SetTimeout";
  std::uint32_t stream = 0;
  std::uint32_t milliseconds = 0;
  template <class V>
  void fields(V& v) {
    v("stream", stream);
    v("milliseconds", milliseconds);
  }
};

// Ends what the stream's launches do and will do: each fails. A wait for one returns that failure.
struct Cancel {
  static constexpr MessageType kType = MessageType::kCancel;
  static constexpr const char* kName = "Cancel";
  std::uint32_t stream = 0;  // 0: all of this connection
  template <class V>
  void fields(V& v) {
    v("stream", stream);
  }
};

struct CloseStream {
  static constexpr MessageType kType = MessageType::kCloseStream;
  static constexpr const char* kName = "CloseStream";
  std::uint32_t stream = 0;
  template <class V>
  void fields(V& v) {
    v("stream", stream);
  }
};

struct StreamTime {
  static constexpr MessageType kType = MessageType::kStreamTime;
  static constexpr const char* kName = "StreamTime";
  std::uint32_t stream = 0;
  template <class V>
  void fields(V& v) {
    v("stream", stream);
  }
};

// Estimated nanoseconds on the chip; 0 while no launch was estimated.
struct StreamTimeReply {
  static constexpr MessageType kType = MessageType::kStreamTimeReply;
  static constexpr const char* kName = "StreamTimeReply";
  std::uint64_t last_ns = 0;
  std::uint64_t total_ns = 0;
  template <class V>
  void fields(V& v) {
    v("last_ns", last_ns);
    v("total_ns", total_ns);
  }
};

// One side of a finding: a call, what it does, and where it stands.
struct FindingParty {
  std::string function;
  std::string text;
  std::string path;  // of the source file; empty: not known
  std::uint32_t line = 0;
  std::string caller;
  std::vector<std::string> stack;  // of the host program, innermost first
  template <class V>
  void fields(V& v) {
    v("function", function);
    v("text", text);
    v("path", path);
    v("line", line);
    v("caller", caller);
    v("stack", stack);
  }
};

// What a check has found. A core says it of the launch that it works on, the server to the client that caused it; it
// comes before the answer to the request that it is about.
struct FindingNote {
  static constexpr MessageType kType = MessageType::kFindingNote;
  static constexpr const char* kName = "FindingNote";
  static constexpr std::uint64_t kNoCost = ~std::uint64_t{0};
  std::uint64_t id = 0;  // for FindingCount
  std::string rule;
  std::string kernel;
  std::int32_t core = -1;
  std::string what;
  std::string memory;  // empty: no bytes are named, and the next four mean nothing
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::int32_t npu = -1;
  std::int32_t bank = -1;
  std::vector<FindingParty> parties;
  std::string nearest;
  std::uint64_t cost = kNoCost;  // in thousandths of a cycle
  std::uint64_t count = 1;
  bool left_out = false;  // the list has no room for it (SOFTTPU_MAX_FINDINGS): it is only counted
  template <class V>
  void fields(V& v) {
    v("id", id);
    v("rule", rule);
    v("kernel", kernel);
    v("core", core);
    v("what", what);
    v("memory", memory);
    v("begin", begin);
    v("end", end);
    v("npu", npu);
    v("bank", bank);
    v("parties", parties);
    v("nearest", nearest);
    v("cost", cost);
    v("count", count);
    v("left_out", left_out);
  }
};

// The finding with this id has come so many times more; `now` holds it as the latest launch has it, where its text is
// another one.
struct FindingCount {
  static constexpr MessageType kType = MessageType::kFindingCount;
  static constexpr const char* kName = "FindingCount";
  std::uint64_t id = 0;
  std::uint64_t count = 0;
  std::vector<FindingNote> now = {};
  template <class V>
  void fields(V& v) {
    v("id", id);
    v("count", count);
    v("now", now);
  }
};

// So many findings were intended (SOFTTPU_ALLOW of the device).
struct AllowedNote {
  static constexpr MessageType kType = MessageType::kAllowedNote;
  static constexpr const char* kName = "AllowedNote";
  std::string rule;
  std::string kernel;
  std::uint64_t count = 0;
  template <class V>
  void fields(V& v) {
    v("rule", rule);
    v("kernel", kernel);
    v("count", count);
  }
};

struct Stat {
  static constexpr MessageType kType = MessageType::kStat;
  static constexpr const char* kName = "Stat";
  template <class V>
  void fields(V&) {}
};

struct ClientStat {
  std::uint32_t pid = 0;
  std::uint64_t bytes = 0;
  std::uint32_t modules = 0;
  std::uint32_t queued = 0;
  std::uint64_t launches = 0;
  template <class V>
  void fields(V& v) {
    v("pid", pid);
    v("bytes", bytes);
    v("modules", modules);
    v("queued", queued);
    v("launches", launches);
  }
};

// A launch that failed, or a core that died.
struct FaultStat {
  std::uint64_t time = 0;  // seconds since 1970
  std::string text;
  template <class V>
  void fields(V& v) {
    v("time", time);
    v("text", text);
  }
};

struct StatReply {
  static constexpr MessageType kType = MessageType::kStatReply;
  static constexpr const char* kName = "StatReply";
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
  template <class V>
  void fields(V& v) {
    v("server_pid", server_pid);
    v("core_pid", core_pid);
    v("bytes_total", bytes_total);
    v("bytes_used", bytes_used);
    v("launches", launches);
    v("failures", failures);
    v("core_restarts", core_restarts);
    v("queued", queued);
    v("clients", clients);
    v("faults", faults);
  }
};

}  // namespace msg
}  // namespace softtpu
