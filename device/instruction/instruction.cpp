#include "device/instruction/instruction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace softtpu::stream {
namespace {

using Bytes = std::span<const std::uint8_t>;

// Heads are the same in every format of a unit.
constexpr unsigned kHeadBytes = 8;
constexpr unsigned kDmaEnd = 0;
constexpr unsigned kTiuEnd = 31;

std::uint64_t low_bits(unsigned width) { return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1; }

// At most 64 bits from `bit` on; the caller has checked that they are there.
std::uint64_t read_bits(Bytes bytes, unsigned bit, unsigned width) {
  std::uint64_t value = 0;
  // Nearly all fields lie in eight bytes that are there.
  if (bit % 8 + width <= 64 && bit / 8 + sizeof(value) <= bytes.size()) {
    std::memcpy(&value, bytes.data() + bit / 8, sizeof(value));
    return value >> bit % 8 & low_bits(width);
  }
  for (unsigned done = 0; done < width;) {
    const unsigned at = bit + done;
    const unsigned take = std::min(8 - at % 8, width - done);
    value |= (std::uint64_t{bytes[at / 8]} >> at % 8 & low_bits(take)) << done;
    done += take;
  }
  return value;
}

void write_bits(std::vector<std::uint8_t>& bytes, unsigned bit, unsigned width, std::uint64_t value) {
  for (unsigned done = 0; done < width;) {
    const unsigned at = bit + done;
    const unsigned take = std::min(8 - at % 8, width - done);
    bytes[at / 8] |= static_cast<std::uint8_t>((value >> done & low_bits(take)) << at % 8);
    done += take;
  }
}

// Where reserved bits are set, the first of them; -1: nowhere. Reserved parts may be wider than 64 bits.
int set_reserved_bit(Bytes bytes, const BitField& place) {
  const unsigned end = unsigned{place.bit} + place.width;
  for (unsigned bit = place.bit; bit < end; bit += 64) {
    const std::uint64_t bits = read_bits(bytes, bit, std::min(64U, end - bit));
    if (bits != 0) return static_cast<int>(bit) + std::countr_zero(bits);
  }
  return -1;
}

std::string first_word(Bytes bytes) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), kHeadBytes); ++i)
    text += fmt::format("{:02x}", bytes[i]);
  return text;
}

std::string place_text(std::uint64_t offset, Bytes bytes) {
  return fmt::format("offset {} (bytes {})", offset, first_word(bytes));
}

Error bad(Unit unit, std::uint64_t offset, Bytes bytes, const std::string& reason) {
  return {ErrorKind::kUsage, fmt::format("{} stream, {}: {}", to_text(unit), place_text(offset, bytes), reason)};
}

struct Head {
  bool short_form;
  unsigned operation, function;
};

Head read_head(const InstructionSet& set, Unit unit, Bytes bytes) {
  const auto bits = [&](const BitField& place) {
    return place.width == 0 ? 0U : static_cast<unsigned>(read_bits(bytes, place.bit, place.width));
  };
  const HeadFields& head = set.head(unit);
  return {bits(head.short_form) != 0, bits(head.operation), bits(head.function)};
}

// Where streams have no end: zeros follow the last instruction.
bool is_enabled(const Instruction& instruction) {
  return instruction[instruction.format->unit == Unit::kTiu ? Field::cmd_en : Field::pio_gdma_enable] != 0;
}

}  // namespace

unsigned Instruction::function() const {
  return static_cast<unsigned>((*this)[format->unit == Unit::kTiu ? Field::tsk_eu_typ : Field::cmd_special_function]);
}

bool Instruction::is_end() const {
  if (format->unit == Unit::kTiu) return format->name.starts_with("SYS") && function() == kTiuEnd;
  return format->name == "sDMA_sys" && function() == kDmaEnd;
}

bool is_fill(const Instruction& instruction) {
  // BM1684 has a function for it.
  constexpr unsigned kConstant = 4;
  if (instruction.format->has(Field::pio_gdma_enable)) return instruction.function() == kConstant;
  return instruction[Field::fill_constant_en] != 0;
}

const Format* find_format(const InstructionSet& set, Unit unit, std::span<const std::uint8_t, 8> bytes) {
  const Head head = read_head(set, unit, bytes);
  return set.find(unit, head.short_form, head.operation, head.function);
}

Result<Instruction> decode(const InstructionSet& set, Unit unit, Bytes bytes, std::uint64_t offset) {
  if (bytes.size() < kHeadBytes) {
    return bad(unit, offset, bytes,
               fmt::format("the stream ends inside an instruction ({} bytes are left)", bytes.size()));
  }
  const Head head = read_head(set, unit, bytes);
  const Format* format = set.find(unit, head.short_form, head.operation, head.function);
  if (format == nullptr) {
    return bad(unit, offset, bytes,
               fmt::format("no {} instruction has operation {}, function {}", head.short_form ? "short" : "long",
                           head.operation, head.function));
  }
  if (bytes.size() < format->bytes) {
    return bad(unit, offset, bytes,
               fmt::format("{} has {} bytes, the stream has {} more", format->name, format->bytes, bytes.size()));
  }
  Instruction instruction{.format = format, .by_sdma = unit == Unit::kSdma};
  for (const BitField& place : format->places) {
    if (!place.reserved()) {
      instruction[place.field] = read_bits(bytes, place.bit, place.width);
    } else if (const int bit = set_reserved_bit(bytes, place); bit >= 0) {
      return bad(unit, offset, bytes, fmt::format("bit {} of {} is reserved, and set", bit, format->name));
    }
  }
  return instruction;
}

Result<std::vector<std::uint8_t>> encode(const Instruction& instruction) {
  const Format& format = *instruction.format;
  std::vector<std::uint8_t> bytes(format.bytes);
  if (instruction.absent_value != 0) {
    return Error{ErrorKind::kUsage, fmt::format("{} has no field {}", format.name, to_text(instruction.absent))};
  }
  for (const BitField& place : format.places) {
    if (place.reserved()) continue;
    const std::uint64_t value = instruction[place.field];
    if ((value & ~low_bits(place.width)) != 0) {
      return Error{ErrorKind::kUsage, fmt::format("{} of {} is {:#x}: it has {} bits", to_text(place.field),
                                                  format.name, value, place.width)};
    }
    write_bits(bytes, place.bit, place.width, value);
  }
  return bytes;
}

Result<std::vector<std::uint8_t>> expand(const InstructionSet& set, const Instruction& instruction) {
  const Format& format = *instruction.format;
  const Format* long_form = set.find(format.unit, false, format.operation, instruction.function());
  if (long_form == nullptr) return Error{ErrorKind::kUsage, fmt::format("{} has no long form", format.name)};
  Instruction expanded{.format = long_form};
  for (const BitField& place : format.places) {
    if (!place.reserved() && instruction[place.field] != 0) expanded[place.field] = instruction[place.field];
  }
  return encode(expanded);
}

Result<std::vector<Instruction>> read_stream(const InstructionSet& set, Unit unit, Bytes bytes) {
  std::vector<Instruction> instructions;
  // Few instructions have less than 32 bytes. A file may be of any size, so the memory that it asks for has a limit.
  instructions.reserve(std::min<std::size_t>(bytes.size() / 32 + 1, 1 << 14));
  for (std::uint64_t offset = 0;;) {
    if (!set.has_end() && offset == bytes.size()) return instructions;
    Result<Instruction> next = decode(set, unit, bytes.subspan(offset), offset);
    if (!next) return next.error();
    const bool last = set.has_end() ? next->is_end() : !is_enabled(*next);
    if (set.has_end() || !last) {
      offset = std::min<std::uint64_t>(offset + next->format->room, bytes.size());
      instructions.push_back(*next);
      instructions.back().position = static_cast<std::uint32_t>(instructions.size());
    }
    if (!last) continue;
    const auto rest = bytes.subspan(offset);
    const auto stray = std::find_if(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; });
    if (stray == rest.end()) return instructions;
    const auto at = static_cast<std::uint64_t>(stray - rest.begin());
    return bad(unit, offset + at, rest.subspan(at), "only zeros follow the end");
  }
}

std::string place_in(std::span<const Instruction> stream, std::size_t index) {
  std::uint64_t offset = 0;
  for (const Instruction& before : stream.first(index)) offset += before.format->room;
  const auto bytes = encode(stream[index]);
  return place_text(offset, bytes ? Bytes(*bytes) : Bytes());
}

std::string disassemble(const Instruction& instruction) {
  const Format& format = *instruction.format;
  std::string text = fmt::format("{} {} {}.{}", to_text(instruction.unit()), instruction.id(), format.name,
                                 format.function_name(instruction.function()));
  if (const std::uint32_t other = instruction.waits_for(); other != 0) {
    text += fmt::format(" after {} {}", to_text(format.unit == Unit::kTiu ? Unit::kDma : Unit::kTiu), other);
  }
  for (const BitField& place : format.places) {
    if (place.reserved()) continue;
    switch (place.field) {
      case Field::cmd_short:
      case Field::cmd_id:
      case Field::cmd_id_dep:
      case Field::cmd_id_en:
      case Field::cmd_en:
      case Field::dep_mark:
      case Field::pio_gdma_enable:
      case Field::tsk_typ:
      case Field::tsk_eu_typ:
      case Field::cmd_type:
      case Field::cmd_special_function: continue;
      default: break;
    }
    const std::uint64_t value = instruction[place.field];
    if (value == 0) continue;
    const bool is_address = place.width > 20;
    text += is_address ? fmt::format(" {}={:#x}", to_text(place.field), value)
                       : fmt::format(" {}={}", to_text(place.field), value);
  }
  return text;
}

}  // namespace softtpu::stream
