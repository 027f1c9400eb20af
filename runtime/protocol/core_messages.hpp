// The messages between a device's server and one of its cores. The frame's request id is the item's sequence number: a
// core works in that order, so an answer to one item also says that everything before it is finished.
#pragma once

#include "runtime/protocol/messages.hpp"

namespace softtpu::msg {

// Loads the module whose image comes as a file descriptor.
struct CoreLoad {
  static constexpr MessageType kType = MessageType::kCoreLoad;
  static constexpr const char* kName = "CoreLoad";
  std::uint32_t module = 0;
  std::string name;
  template <class V>
  void fields(V& v) {
    v("module", module);
    v("name", name);
  }
};

// The kernels that the module registered, first registered first.
struct CoreLoadReply {
  static constexpr MessageType kType = MessageType::kCoreLoadReply;
  static constexpr const char* kName = "CoreLoadReply";
  std::vector<std::string> kernels;
  template <class V>
  void fields(V& v) {
    v("kernels", kernels);
  }
};

struct CoreUnload {
  static constexpr MessageType kType = MessageType::kCoreUnload;
  static constexpr const char* kName = "CoreUnload";
  std::uint32_t module = 0;
  template <class V>
  void fields(V& v) {
    v("module", module);
  }
};

// Gives a kernel or an exported symbol of a module the number that launches use.
struct CoreDefine {
  static constexpr MessageType kType = MessageType::kCoreDefine;
  static constexpr const char* kName = "CoreDefine";
  std::uint32_t function = 0;
  std::uint32_t module = 0;
  std::string name;
  template <class V>
  void fields(V& v) {
    v("function", function);
    v("module", module);
    v("name", name);
  }
};

// A core's place in a launch.
struct CorePosition {
  std::uint32_t page = 0;  // that the launch's cores share, counted from 1; 0: it has one core
  std::uint32_t workitem = 0, workitems = 1, groups = 1;
  std::uint32_t first_core = 0;
  bool start_barrier = false;  // begins when all cores are here: what the stream launched before may not be through
  bool awaited =
      false;  // it is waited for: the last core to end says so, and the server looks what the others have done
  bool compared = false;    // with the launch that it repeats, without observers
  std::uint32_t order = 0;  // of commands and cores: random with this seed; 0: as the settings say
  template <class V>
  void fields(V& v) {
    v("page", page);
    v("workitem", workitem);
    v("workitems", workitems);
    v("groups", groups);
    v("first_core", first_core);
    v("start_barrier", start_barrier);
    v("awaited", awaited);
    v("compared", compared);
    v("order", order);
  }
};

// Runs a function. Success is reported by a CoreDone at the latest when the core runs out of work; at once with
// `flush`.
struct CoreLaunch {
  static constexpr MessageType kType = MessageType::kCoreLaunch;
  static constexpr const char* kName = "CoreLaunch";
  std::uint32_t function = 0;
  bool flush = false;
  std::uint64_t client = 0;  // whose findings they are; 0: the device is not shared
  CorePosition place;
  Bytes args;
  template <class V>
  void fields(V& v) {
    v("function", function);
    v("flush", flush);
    v("client", client);
    v("place", place);
    v("args", args);
  }
};

// A place in code: of a module, by its offset there; module 0: an address in what all processes of the device share.
// With how many frames of a stack stand there, and the bytes of one; 0 bytes: not measured.
struct CodeAddress {
  std::uint32_t module = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 1;
  template <class V>
  void fields(V& v) {
    v("module", module);
    v("offset", offset);
    v("bytes", bytes);
    v("count", count);
  }
};

// Asks a process that has the same modules to explain the end of a core: what its status page still holds of the
// last `commands` commands, and the source of these places. That process may die of it; the server may not.
struct CoreExplain {
  static constexpr MessageType kType = MessageType::kCoreExplain;
  static constexpr const char* kName = "CoreExplain";
  std::uint64_t commands = 0;
  std::vector<CodeAddress> calls;
  template <class V>
  void fields(V& v) {
    v("commands", commands);
    v("calls", calls);
  }
};

struct CoreExplainReply {
  static constexpr MessageType kType = MessageType::kCoreExplainReply;
  static constexpr const char* kName = "CoreExplainReply";
  std::vector<std::string> commands;
  std::vector<std::string> calls;
  template <class V>
  void fields(V& v) {
    v("commands", commands);
    v("calls", calls);
  }
};

// No item: a core that sleeps at its socket finds one in its ring (device/server/queue/core_rings.hpp).
struct CoreWakeup {
  static constexpr MessageType kType = MessageType::kCoreWakeup;
  static constexpr const char* kName = "CoreWakeup";
  template <class V>
  void fields(V&) {}
};

// Every item up to the frame's request id is finished; those that failed had their Failure before.
struct CoreDone {
  static constexpr MessageType kType = MessageType::kCoreDone;
  static constexpr const char* kName = "CoreDone";
  template <class V>
  void fields(V&) {}
};

}  // namespace softtpu::msg
