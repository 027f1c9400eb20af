// The binary form of one case that the host puts into global memory for the replay kernel, and of its answer.
// All offsets are relative to the start of the script or of the answer; every structure is plain 64-bit little endian.
#pragma once

#include <cstdint>

namespace softtpu::golden {

// Kinds of arguments as the C ABI sees them.
enum ArgKind : std::uint32_t {
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF32,
  kPointer,     // to `size` bytes at `offset` of the script (the kernel passes a copy)
  kOutPointer,  // to kOutBytes bytes that are copied into the answer after the call
};

inline constexpr std::uint32_t kOutBytes = 32;
inline constexpr std::uint32_t kMaxArguments = 64;
inline constexpr std::uint64_t kMissingFunction = 1;
inline constexpr std::uint64_t kHauPoll = 1, kSdmaPoll = 2;
inline constexpr std::uint64_t kWithoutL2 = 4;  // in the same word: the case does not touch L2

struct ScriptHeader {
  std::uint64_t setups, setup_offset;
  std::uint64_t calls, call_offset;
  std::uint64_t reads, read_offset;
  std::uint64_t snapshot;            // 1: also read the regions before the calls
  std::uint64_t cores, core_offset;  // how many of the calls each core makes, one after the other
  std::uint64_t polls;               // kHauPoll, kSdmaPoll: engines that tpu_poll does not wait for
};
struct ScriptRegion {
  std::uint64_t space, first_npu, npus, core, addr, size;
  std::uint64_t data_offset;  // setup: the bytes in the script
};
struct ScriptCall {
  std::uint64_t name_offset;  // zero-terminated
  std::uint64_t arguments, argument_offset;
  std::uint64_t returns_float;
};
struct ScriptArgument {
  std::uint64_t kind, value, offset, size;
};

struct AnswerHeader {
  std::uint64_t finished;  // by how many cores the kernel's end was reached
  std::uint64_t local_base, global_base, l2_base;
};
struct AnswerCall {
  std::uint64_t status;  // 0 or kMissingFunction
  std::uint64_t value;
  std::uint8_t out[4][kOutBytes];
};
// After AnswerHeader: one AnswerCall for each call, [the snapshot of the regions,] the regions.

struct ReplayArguments {
  std::uint64_t okkernel;  // 1: okk_* names for start, poll and pointers
  std::uint64_t script_addr, answer_addr, scratch_addr;
};

}  // namespace softtpu::golden
