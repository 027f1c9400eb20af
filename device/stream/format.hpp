// How instructions of the tensor unit (TIU) and of GDMA are laid out in bits: one table per chip (formats/*.def),
// read by the decoder, the encoder and the disassembler.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace softtpu::stream {

enum class Unit : std::uint8_t { kTiu, kDma };
std::string_view to_text(Unit unit);

// Every name of a field, of all formats.
enum class Field : std::uint8_t {
#define FIELD(name) name,
#include "device/stream/formats/fields.def"
  kCount
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::kCount);
std::string_view to_text(Field field);

// Bits [bit, bit + width) of an instruction. Reserved bits have no field; they are zero.
struct FieldPlace {
  Field field = Field::kCount;
  std::uint16_t bit = 0;
  std::uint8_t width = 0;
  bool reserved() const { return field == Field::kCount; }
};

// A function of an operation: the name of its code. "-" where none is known.
struct FunctionName {
  std::uint8_t code = 0;
  std::string_view name;
};

struct Format {
  Unit unit = Unit::kTiu;
  std::string_view name;
  std::uint8_t operation = 0;
  std::uint16_t bytes = 0;
  bool short_form = false;
  std::vector<FunctionName> functions;
  std::vector<FieldPlace> places;  // from the lowest bit on, without a gap

  const FieldPlace* find(Field field) const;
  std::string_view function_name(unsigned code) const;  // empty: the operation has no such function
};

// The instructions of one chip.
class InstructionSet {
 public:
  static const InstructionSet& bm1684x();

  std::span<const Format> formats() const { return formats_; }
  // nullptr: no such instruction.
  const Format* find(Unit unit, bool short_form, unsigned operation, unsigned function) const;
  const Format* find(std::string_view name) const;

  struct Row {
    Unit unit;
    std::uint8_t operation;
    std::string_view long_name, short_name;
    std::string_view functions;                  // "0:mul 1:not ..."
    std::string_view long_fields, short_fields;  // "cmd_short:1 cmd_id:20 -:3 ..."; empty: no such form
  };

 private:
  explicit InstructionSet(std::span<const Row> rows);
  std::vector<Format> formats_;
};

}  // namespace softtpu::stream
