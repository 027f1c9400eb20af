// What a core tells its server without a message: a mapping that both have, between guard areas. The server reads it
// when a core has died or hangs. A kernel's wild write may have been there: numbers are checked before they are
// used, and the commands are read by a symbolizer, never by the server.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "device/core/command_ring.hpp"

namespace softtpu {

// More than the launches that a core is given ahead.
inline constexpr std::size_t kEstimates = 1024;

// A place in the code that calls on the stack stand at.
struct FaultFrame {
  std::uint64_t address = 0;  // inside the call instruction
  std::uint64_t bytes = 0;    // of one of its frames; 0: not measured
  std::uint64_t count = 0;    // how many there are
};

// Written by the dying core, in its signal or exit handler.
struct FaultRecord {
  static constexpr std::size_t kFrames = 24;
  static constexpr std::size_t kReasonBytes = 512;
  std::atomic<int> signal{0};  // 0: none
  std::uint64_t address = 0;
  bool has_address = false;
  std::uint32_t frame_count = 0;
  std::array<FaultFrame, kFrames> frames{};  // innermost first; of a stack overflow those that fill it, largest first
  std::uint64_t stack_limit = 0;             // bytes; 0: this is no stack overflow
  std::uint64_t stack_used = 0;
  std::array<char, kReasonBytes>
      reason{};  // what the signal does not say: "threw ..."; ends with a zero; empty: nothing
};

// Where the core has a module's code.
struct LoadedCode {
  std::uint32_t module = 0;
  std::uint64_t base = 0;  // address = base + offset in the file
  std::uint64_t begin = 0, end = 0;
};

// How far a core is with its items. Kept twice, in two mappings, so that one wild write cannot make a launch seem done,
// or undone.
struct CoreProgress {
  static constexpr std::uint64_t kIntact = 0x9E37'79B9'7F4A'7C15;
  std::uint64_t front = kIntact;            // a wild write over the place shows here
  std::atomic<std::uint64_t> running{0};    // sequence number of the item being worked on; 0: none
  std::atomic<std::uint64_t> reported{0};   // the last item that a message was sent about
  std::atomic<std::uint64_t> completed{0};  // every item up to this one is finished
  std::uint64_t back = kIntact;

  bool is_whole() const { return front == kIntact && back == kIntact; }
};

struct CoreStatus {
  CoreProgress progress;
  std::atomic<std::uint64_t> flush_through{0};    // the server waits for items up to this one: report each at once
  std::atomic<std::uint64_t> watched_through{0};  // the server looks at `completed` for these: no report of success
  std::atomic<std::uint64_t> launch_commands{0};  // commands given when the running item began
  std::atomic<std::uint64_t> ring_taken{0};       // bytes of its ring that the core has read (RingReader::taken)
  std::atomic<bool> listens{false};               // the core sleeps at its socket, or is about to
  FaultRecord fault;
  static constexpr std::size_t kModules = 64;
  std::array<LoadedCode, kModules> code;  // module 0: an empty place
  CommandRing commands;
  // Estimated nanoseconds of the launch with sequence number n at n % kEstimates; 0: none. Written before `completed`.
  std::array<std::atomic<std::uint64_t>, kEstimates> estimated_ns{};
  // The server waits for item n alone, and has put it at n % kEstimates: report it at once.
  std::array<std::atomic<std::uint64_t>, kEstimates> awaited{};
};

}  // namespace softtpu
