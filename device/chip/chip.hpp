// A chip is data: sizes, addresses and engines, read from JSON (device/chip/chips/*.json or a file of the user's).
// Nothing else in softtpu states these numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/isa/types.hpp"
#include "runtime/base/division.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

enum class Api : std::uint8_t { kTpuKernel, kOkKernel };
enum class ChipMode : std::uint8_t { kPcie, kSoc };

// A memory in the chip's system address map.
struct MemoryRange {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  bool contains(std::uint64_t addr) const { return addr - start < bytes; }
};

// How well a timing parameter is founded.
enum class Founded : std::uint8_t { kMeasured, kVendor, kGuess };

// One number of the timing model (device/observe/time_model.hpp lists the names).
struct TimingParameter {
  double value = 0;
  Founded founded = Founded::kGuess;
};

struct Chip {
  std::string name;
  Api api = Api::kTpuKernel;
  ChipMode mode = ChipMode::kPcie;
  std::uint32_t chip_id = 0;
  int npu_num = 0;
  int eu_bytes = 0;               // bytes that the execution units of one NPU take at once; also the layout's alignment
  MemoryRange local_mem;          // window of all local memories in the system map
  std::uint32_t local_bytes = 0;  // per NPU
  int banks = 0;                  // per NPU
  MemoryRange static_mem, l2_sram, global_mem;
  std::optional<MemoryRange> dtcm;    // BM1684 only
  std::uint64_t global_reserved = 0;  // bytes at the start of global memory that are never given to a program
  int cores = 1;
  std::map<std::string, TimingParameter> timing;  // empty: no times are estimated for this chip

  std::uint32_t bank_bytes() const { return local_bytes / static_cast<std::uint32_t>(banks); }
  int eu_num(Dtype type) const { return quotient(eu_bytes, size_of(type)); }
  int npu_of(std::uint64_t local_addr) const { return static_cast<int>(quotient(local_addr, local_bytes)); }
  std::uint32_t offset_of(std::uint64_t local_addr) const {
    return static_cast<std::uint32_t>(remainder(local_addr, local_bytes));
  }
};

// A built-in name (bm1684x, bm1684, demo4), the path of a JSON file, or the JSON itself. Errors name the file, the member
// and what is wrong.
Result<Chip> load_chip(const std::string& name_or_path);
Result<Chip> parse_chip(const std::string& json_text, const std::string& origin);
std::vector<std::string> builtin_chip_names();

}  // namespace softtpu
