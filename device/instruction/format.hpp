// How instructions of the tensor unit (TIU) and of DMA are laid out in bits: one table per chip (formats/*.def),
// read by the decoder, the encoder and the disassembler.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace softtpu::stream {

// SDMA has the formats of DMA.
enum class Unit : std::uint8_t { kTiu, kDma, kSdma };
std::string_view to_text(Unit unit);

// Every name of a field, of all formats.
enum class Field : std::uint8_t {
#define FIELD(name) name,
#include "device/instruction/formats/fields.def"
  kCount
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::kCount);
std::string_view to_text(Field field);

// Fields that a format can have.
inline constexpr std::size_t kMostFields = 120;

// Bits [bit, bit + width) of an instruction. Reserved bits have no field; they are zero.
struct BitField {
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
  std::uint16_t room = 0;        // bytes that it takes in a stream, those that fill it up included
  std::vector<BitField> places;  // from the lowest bit on, without a gap
  static constexpr std::uint8_t kNoSlot = 0xFF;
  std::array<std::uint8_t, kFields> slots{};  // where an instruction keeps each field; kNoSlot: it has none

  const BitField* find(Field field) const;
  bool has(Field field) const { return slots[static_cast<std::size_t>(field)] != kNoSlot; }
  std::string_view function_name(unsigned code) const;  // empty: the operation has no such function
};

// Where the bits lie that say which instruction it is. The same in every format of a unit.
struct HeadFields {
  BitField short_form, operation, function;  // width 0: there are none
};

// How instructions write addresses of DMA and messages. Where offsets have no bits, addresses are those of the system
// map.
struct InstructionCodes {
  int offset_bits = 0;  // of an address, from bit 0 on
  int tag_bit = 0, tag_bits = 0;
  int system_bit = -1;           // clear: an offset in local memory; -1: there is no such bit
  int local_tag = -1;            // the tag of the core's own local memory; -1: there is none
  std::uint64_t plain_tags = 0;  // bit i: the offset behind tag i is one of the system map, also in networks
  int message_bits = 0;          // of a message's number, from bit 0 of its word on
  unsigned alignment = 1;        // bytes that the size of an instruction is rounded up to in a stream
  int tiu_count_bit = 0, dma_count_bit = 0;  // where the count of a message begins
};

// The instructions of one chip.
class InstructionSet {
 public:
  // nullptr: no table has the chip's instructions. Names as in a compiled network, in lower case ("cv186x").
  static const InstructionSet* find_chip(std::string_view chip);
  static const InstructionSet& bm1684x();

  std::span<const Format> formats() const { return formats_; }
  // nullptr: no such instruction.
  const Format* find(Unit unit, bool short_form, unsigned operation, unsigned function) const;
  const Format* find(std::string_view name) const;
  const HeadFields& head(Unit unit) const { return heads_[unit == Unit::kTiu ? 0 : 1]; }
  const InstructionCodes& codes() const { return codes_; }
  // Whether streams end with an instruction of their own; else with their bytes, or where one is not enabled.
  bool has_end() const { return has_end_; }

  struct Row {
    Unit unit;
    std::uint8_t operation;
    std::string_view long_name, short_name;
    std::string_view functions;                  // "0:mul 1:not ..."
    std::string_view long_fields, short_fields;  // "cmd_short:1 cmd_id:20 -:3 ..."; empty: no such form
  };

 private:
  static constexpr std::size_t kOperations = 32, kFunctions = 32;
  explicit InstructionSet(std::span<const Row> rows, const InstructionCodes& codes = {});
  void index();

  std::vector<Format> formats_;
  std::array<HeadFields, 2> heads_;
  std::array<const Format*, 2 * 2 * kOperations * kFunctions> by_head_{};
  InstructionCodes codes_;
  bool has_end_ = false;
};

}  // namespace softtpu::stream
