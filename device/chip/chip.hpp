// A chip is data: sizes, addresses and engines, read from JSON (device/chip/chips/*.json or a file of the user's).
// Nothing else in softtpu states these numbers.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "device/chip/type_numbers.hpp"
#include "device/isa/types.hpp"
#include "runtime/base/division.hpp"
#include "runtime/base/result.hpp"

namespace softtpu {

enum class ChipMode : std::uint8_t { kPcie, kSoc };

// A named way in which chips differ (device/chip/rules.hpp lists them).
enum class Quirk : std::uint8_t;

// More than there are.
constexpr std::size_t kMostChipRules = 192;

// A memory in the chip's system address map.
struct MemoryRange {
  std::uint64_t start = 0;
  std::uint64_t bytes = 0;
  bool contains(std::uint64_t addr) const { return addr - start < bytes; }
};

// How well a timing parameter is founded.
enum class Founded : std::uint8_t { kMeasured, kVendor, kGuess };

// One number of the timing model (device/cost/time_model.hpp lists the names).
struct TimingParameter {
  double value = 0;
  Founded founded = Founded::kGuess;
};

struct Chip {
  std::string name;
  std::string revision;  // of the emulator whose results these are ("1.30"); empty: the chip has one only
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
  std::uint64_t l2_usable = 0;  // bytes of L2 that the chip tells a core of; its window may be larger
  bool l2_per_core = false;     // l2_usable counts for each core of a launch
  // To core k its local memories and L2 lie k times so many bytes further than those of core 0; 0: at the same
  // place, as on a chip with more cores than its map has room for.
  std::uint64_t local_core_step = 0, l2_core_step = 0;
  int dma_w_stride_bytes = 128;    // the largest w stride of a DMA copy
  TypeSet extra_types = kNoTypes;  // data types beyond those of every chip
  TypeNumbers type_numbers;
  int sum_group = 32;     // products of 16-bit floats that are added in one step
  int weight_block = 64;  // 8-bit input channels that lie together in a block of weights; 16-bit: half of it
  std::bitset<kMostChipRules> rules;         // bit i: the rule with number i holds
  std::set<std::string, std::less<>> parts;  // what only some chips have: "SDMA engine" (notes of device/isa/ops)
  // Functions that the chip refuses whatever the arguments, or parts whose functions it refuses, and why.
  std::map<std::string, std::string> refused;
  std::map<std::string, TimingParameter> timing;  // empty: no times are estimated for this chip

  // Whether the chip has what a function of the operations table needs.
  bool has_part(std::string_view note) const { return note.empty() || parts.find(note) != parts.end(); }
  // Why a function that needs this part ("": none) is refused; nullptr: it is not, or the chip lacks the part.
  const std::string* reason_to_refuse(std::string_view function, std::string_view part) const {
    auto found = refused.find(std::string(function));
    if (found == refused.end() && !part.empty()) found = refused.find(std::string(part));
    return found == refused.end() ? nullptr : &found->second;
  }
  bool has(Quirk rule) const { return rules[static_cast<std::size_t>(rule)]; }
  // "bm1684x", or "bm1684x-1.30" for one with a revision.
  std::string full_name() const { return revision.empty() ? name : name + "-" + revision; }

  std::uint32_t bank_bytes() const { return local_bytes / static_cast<std::uint32_t>(banks); }
  int eu_num(Dtype type) const { return quotient(eu_bytes, size_of(type)); }
  int npu_of(std::uint64_t local_addr) const { return static_cast<int>(quotient(local_addr, local_bytes)); }
  std::uint32_t offset_of(std::uint64_t local_addr) const {
    return static_cast<std::uint32_t>(remainder(local_addr, local_bytes));
  }
};

// A built-in name (bm1684x, bm1684x-23.05, bm1688, ...) or another name of such a chip (sg2260e), the path of a JSON
// file, or the JSON itself. Errors name the file, the member and what is wrong.
Result<Chip> load_chip(const std::string& name_or_path);
Result<Chip> parse_chip(const std::string& json_text, const std::string& origin);
// Other names of the same chip are not among them.
std::vector<std::string> builtin_chip_names();

}  // namespace softtpu
