// The operations table: one entry per public function, made from device/isa/ops.def. Names, engines, data types,
// limits, and whether the chip has the function are read from here by validation, trace, `softtpu api` and the tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device/isa/limits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class Engine : std::uint8_t { kNone, kBdc, kGdma, kSdma, kHau, kControl };

// One of the table's functions. op_names.hpp has the enumerators.
enum class Op : std::uint16_t;

// How far softtpu has the function.
enum class Support : std::uint8_t {
  kCommand,       // issues one command
  kComposite,     // issues the commands of other functions, as the SDK documents
  kQuery,         // answers from the chip's description or the core's state
  kUnsupported,   // belongs to another chip: calling it is a fault
  kUndetermined,  // neither a recording nor a description determines what it does: calling it is a fault
};
// Whatever the arguments.
constexpr bool is_refused(Support support) {
  return support == Support::kUnsupported || support == Support::kUndetermined;
}

struct OpInfo {
  std::string_view name;
  Api api = Api::kTpuKernel;  // the interface that the function belongs to
  Engine engine = Engine::kNone;
  Support support = Support::kCommand;
  TypeSet types = kNoTypes;  // allowed types of the destination; kNoTypes: the family's own rules decide
  // kUndetermined: what is not known. Else what a chip has to have for it; kUnsupported: what none has.
  std::string_view note = {};
  Limits limits = Limits::kNone;  // of the arguments that are numbers
};

// What a chip has to have for a function; empty for those that every chip has, or that are refused for other reasons.
constexpr std::string_view part_for(const OpInfo& row) {
  return row.support == Support::kUndetermined ? std::string_view() : row.note;
}

const OpInfo& info(Op op);
std::span<const OpInfo> all_ops();
std::optional<Op> find_op(std::string_view name);
std::string_view to_text(Engine engine);

}  // namespace softtpu
