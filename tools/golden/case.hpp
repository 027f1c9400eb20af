// Recorded cases in memory: what golden/README.md calls CASE, REGION, ARG. Read from <family>.json + <family>.bin.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/chip/type_numbers.hpp"
#include "runtime/base/result.hpp"

namespace softtpu::golden {

using Bytes = std::vector<std::uint8_t>;

enum class Space : std::uint32_t { kLocal, kGlobal, kL2, kDtcm };

// Bytes [addr, addr + size) of one memory; of each NPU in [first_npu, first_npu + npus) when it is local memory.
struct Region {
  Space space = Space::kLocal;
  std::uint32_t first_npu = 0;
  std::uint32_t npus = 1;
  std::uint32_t core = 0;  // whose local memory it is
  std::uint64_t addr = 0;
  std::uint64_t size = 0;
  std::string dtype;  // "f32", "i8" ...; empty when the case does not say
  Bytes data;         // setup: what to store; expect: what must be there. NPU-major

  std::uint64_t bytes() const { return size * npus; }
};

// How an argument is passed, see kernel/script.hpp.
struct Argument {
  std::uint32_t kind = 0;
  std::uint64_t value = 0;
  Bytes data;                // what a pointer argument points to
  std::optional<Bytes> out;  // expected content after the call, for out-parameters
};

enum class Base : std::uint8_t { kNone, kLocal, kGlobal, kL2 };

struct Call {
  std::string function;
  std::vector<Argument> arguments;
  std::optional<std::uint64_t> returns;  // expected value under return_mask
  std::uint64_t return_mask = ~0ULL;
  Base return_base = Base::kNone;  // the return is a pointer: compare its distance to this memory's start
};

struct Case {
  std::string id;
  std::string note;
  std::string deviation;  // non-empty: a mismatch is not a failure
  bool abort = false;
  bool nan_is_nan = false;  // an f32 NaN equals any other in f32 regions
  std::vector<Region> setup;
  std::vector<Call> calls;              // of all cores, one core after the other
  std::vector<std::size_t> core_calls;  // how many are each core's; empty: the case has one core
  std::vector<Region> expect;

  std::size_t cores() const { return core_calls.empty() ? 1 : core_calls.size(); }
};

struct Family {
  std::string chip;
  std::string name;
  std::vector<Case> cases;
};

inline constexpr std::uint64_t kScratchBytes = 16U << 20;

// What addresses in a case are relative to, and how large its memories are.
struct AddressBases {
  std::uint64_t scratch = 0;  // the block in global memory
  std::uint64_t l2 = 0;
  std::uint64_t local_bytes = 0;  // per NPU
  std::uint32_t npus = 0;
  std::uint64_t scratch_bytes = kScratchBytes;
  TypeNumbers type_numbers = {};  // of the chip's data types
};

// Reads a family file completely. Errors name the file, the case and the member.
Result<Family> read_family(const std::string& json_path, const AddressBases& bases);
// The chip and the emulator that a family file was recorded with, without reading the cases' data.
struct Origin {
  std::string chip;    // "bm1684x"
  std::string source;  // "vendor emulator of BM1684X, libsophon 23.05"
};
Result<Origin> read_origin(const std::string& json_path);

}  // namespace softtpu::golden
