// The messages between a device's server and one of its cores. The frame's request id is the item's sequence number: a
// core works in that order, so an answer to one item also says that everything before it is finished.
#pragma once

#include "runtime/protocol/launch_position.hpp"
#include "runtime/protocol/messages.hpp"

namespace softtpu::msg {

// Loads the module whose image comes as a file descriptor.
struct CoreLoad {
  static constexpr MessageType kType = MessageType::kCoreLoad;
  std::uint32_t module = 0;
  std::string name;
};

// The kernels that the module registered, first registered first.
struct CoreLoadReply {
  static constexpr MessageType kType = MessageType::kCoreLoadReply;
  std::vector<std::string> kernels;
};

struct CoreUnload {
  static constexpr MessageType kType = MessageType::kCoreUnload;
  std::uint32_t module = 0;
};

// Gives a kernel or an exported symbol of a module the number that launches use.
struct CoreDefine {
  static constexpr MessageType kType = MessageType::kCoreDefine;
  std::uint32_t function = 0;
  std::uint32_t module = 0;
  std::string name;
};

// One core's part of a launch. Success is reported by a CoreDone at the latest when the core runs out of work; at once
// with `flush`.
struct CoreLaunch {
  static constexpr MessageType kType = MessageType::kCoreLaunch;
  bool flush = false;
  std::uint64_t client = 0;  // whose findings they are; 0: the device is not shared
  LaunchPosition position;
  bool start_barrier = false;  // begins when all cores are here: what the stream launched before may not be through
  // It is waited for: the last core to end says so, and the server looks what the others have done.
  bool awaited = false;
  bool compared = false;    // with the launch that it repeats, without observers
  std::uint32_t order = 0;  // of commands and cores: random with this seed; 0: as the settings say
  Call call;                // a kernel's function is not 0
};

// A place in code: of a module, by its offset there; module 0: an address in what all processes of the device share.
// With how many frames of a stack stand there, and the bytes of one; 0 bytes: not measured.
struct CodeAddress {
  std::uint32_t module = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 1;
};

// Asks a process that has the same modules to explain the end of a core: what its status page still holds of the
// last `commands` commands, and the source of these places. That process may die of it; the server may not.
struct CoreExplain {
  static constexpr MessageType kType = MessageType::kCoreExplain;
  std::uint64_t commands = 0;
  std::vector<CodeAddress> calls;
};

struct CoreExplainReply {
  static constexpr MessageType kType = MessageType::kCoreExplainReply;
  std::vector<std::string> commands;
  std::vector<std::string> calls;
};

// No item: a core that sleeps at its socket finds one in its ring (device/server/queue/core_rings.hpp).
struct CoreWakeup {
  static constexpr MessageType kType = MessageType::kCoreWakeup;
};

// Every item up to the frame's request id is finished; those that failed had their Failure before.
struct CoreDone {
  static constexpr MessageType kType = MessageType::kCoreDone;
};

}  // namespace softtpu::msg
