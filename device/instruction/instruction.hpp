// One instruction of a compiled network, and its way from bytes and back.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device/instruction/format.hpp"
#include "runtime/base/result.hpp"

namespace softtpu::stream {

// The fields of an instruction; those that its format lacks are 0.
struct Instruction {
  const Format* format = nullptr;
  std::array<std::uint64_t, kMostFields> values{};  // by the format's slots
  std::uint32_t position = 0;                       // in its stream, from 1 on, where instructions have no number
  bool by_sdma = false;
  // What was given to a field that the format lacks.
  Field absent = Field::kCount;
  std::uint64_t absent_value = 0;

  std::uint64_t operator[](Field field) const {
    const std::uint8_t slot = format->slots[static_cast<std::size_t>(field)];
    return slot == Format::kNoSlot ? 0 : values[slot];
  }
  std::uint64_t& operator[](Field field) {
    const std::uint8_t slot = format->slots[static_cast<std::size_t>(field)];
    if (slot != Format::kNoSlot) return values[slot];
    if (absent_value == 0) absent = field;
    return absent_value;
  }
  Unit unit() const { return by_sdma ? Unit::kSdma : format->unit; }
  unsigned function() const;
  std::uint32_t id() const {
    return format->has(Field::cmd_id) ? static_cast<std::uint32_t>((*this)[Field::cmd_id]) : position;
  }
  // The instruction of the other unit (of an SDMA stream: of none) that must be complete first; 0: none.
  std::uint32_t waits_for() const { return static_cast<std::uint32_t>((*this)[Field::cmd_id_dep]); }
  bool is_end() const;  // the last one of its stream
  bool operator==(const Instruction&) const = default;
};

// A DMA instruction whose source is a constant.
bool is_fill(const Instruction& instruction);

// The format that the first eight bytes of an instruction choose; nullptr: none.
const Format* find_format(const InstructionSet& set, Unit unit, std::span<const std::uint8_t, 8> head);

// The instruction at the start of `bytes`. An error names the offset, the first word and what is wrong.
// `offset` is where `bytes` lie in their stream, for that text.
Result<Instruction> decode(const InstructionSet& set, Unit unit, std::span<const std::uint8_t> bytes,
                           std::uint64_t offset = 0);

// The bytes of an instruction; the inverse of decode(). An error names a field whose value its bits cannot hold, or
// that the format lacks.
Result<std::vector<std::uint8_t>> encode(const Instruction& instruction);

// A short TIU instruction as the unit expands it: the long layout, 128 bytes. The head keeps the mark of a short form.
Result<std::vector<std::uint8_t>> expand(const InstructionSet& set, const Instruction& instruction);

// All instructions of a stream, the end included where the chip has one. What follows the end must be zero.
Result<std::vector<Instruction>> read_stream(const InstructionSet& set, Unit unit, std::span<const std::uint8_t> bytes);

// Where an instruction stands, and its first word: "offset 96 (bytes 0f0040000082e000)".
std::string place_in(std::span<const Instruction> stream, std::size_t index);

// "TIU 12 sAR.add after DMA 3: opd0_addr=0x8000 ..." with every field that is not zero.
std::string disassemble(const Instruction& instruction);

}  // namespace softtpu::stream
