#include "runtime/module/dwarf_reader.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/module/elf_file.hpp"

namespace softtpu {
namespace {

using Section = std::span<const std::uint8_t>;

// Forms: how an attribute's value is written.
enum Form : std::uint64_t {
  kAddr = 0x01,
  kBlock2 = 0x03,
  kBlock4 = 0x04,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kString = 0x08,
  kBlock = 0x09,
  kBlock1 = 0x0a,
  kData1 = 0x0b,
  kFlag = 0x0c,
  kSdata = 0x0d,
  kStrp = 0x0e,
  kUdata = 0x0f,
  kRefAddr = 0x10,
  kRef1 = 0x11,
  kRef2 = 0x12,
  kRef4 = 0x13,
  kRef8 = 0x14,
  kRefUdata = 0x15,
  kSecOffset = 0x17,
  kExprloc = 0x18,
  kFlagPresent = 0x19,
  kStrx = 0x1a,
  kAddrx = 0x1b,
  kData16 = 0x1e,
  kLineStrp = 0x1f,
  kRefSig8 = 0x20,
  kImplicitConst = 0x21,
  kLoclistx = 0x22,
  kRnglistx = 0x23,
  kStrx1 = 0x25,
  kStrx2 = 0x26,
  kStrx3 = 0x27,
  kStrx4 = 0x28,
  kAddrx1 = 0x29,
  kAddrx4 = 0x2c,
};

// Attributes that are kept.
constexpr std::uint64_t kName = 0x03, kByteSize = 0x0b, kBitSize = 0x0d, kUpperBound = 0x2f, kCount = 0x37,
                        kMemberOffset = 0x38, kEncoding = 0x3e, kType = 0x49, kNamesBase = 0x72;
constexpr std::uint64_t kCompileUnit = 0x01;  // DWARF 5's kind of a unit
constexpr std::size_t kMostUnits = 4096, kMostShapes = 65536;

Section find_section(Section file, std::string_view wanted) {
  const ElfFile elf(file);
  const auto head = elf.header();
  const auto sections = elf.sections();
  if (!sections || head->e_shstrndx >= sections->size()) return {};
  const auto bytes_of = [&](const Elf64_Shdr& row) -> Section {
    if (row.sh_offset > file.size() || row.sh_size > file.size() - row.sh_offset) return {};
    return file.subspan(row.sh_offset, row.sh_size);
  };
  const Section names = bytes_of((*sections)[head->e_shstrndx]);
  for (const Elf64_Shdr& row : *sections) {
    if (row.sh_name >= names.size() || (row.sh_flags & SHF_COMPRESSED) != 0 || row.sh_type != SHT_PROGBITS) continue;
    const auto* name = reinterpret_cast<const char*>(names.data() + row.sh_name);
    if (std::string_view(name, ::strnlen(name, names.size() - row.sh_name)) == wanted) return bytes_of(row);
  }
  return {};
}

}  // namespace

// Reads on from a place. Behind the end everything is 0 and ok() false.
class DwarfReader::Cursor {
 public:
  Cursor(Section section, std::uint64_t at) : section_(section), at_(at) { ok_ = at <= section.size(); }

  bool ok() const { return ok_; }
  std::uint64_t at() const { return at_; }
  void skip(std::uint64_t bytes) {
    if (!ok_ || bytes > section_.size() - at_) {
      ok_ = false;
    } else {
      at_ += bytes;
    }
  }
  std::uint64_t number(unsigned bytes) {
    const std::uint64_t from = at_;
    skip(bytes);
    std::uint64_t value = 0;
    for (unsigned i = 0; ok_ && i < bytes; ++i) value |= std::uint64_t{section_[from + i]} << (8 * i);
    return value;
  }
  // LEB128; a signed one's value is not wanted, only its end.
  std::uint64_t variable() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint64_t byte = number(1);
      if (shift < 64) value |= (byte & 0x7F) << shift;
      if (!ok_ || (byte & 0x80) == 0) return value;
    }
  }
  std::string text() {
    const std::uint64_t from = at_;
    while (number(1) != 0) {
    }
    return ok_ ? std::string(reinterpret_cast<const char*>(section_.data() + from), at_ - from - 1) : std::string();
  }

 private:
  Section section_;
  std::uint64_t at_;
  bool ok_ = true;
};

DwarfReader::DwarfReader(Section file)
    : info_(find_section(file, ".debug_info")),
      shapes_(find_section(file, ".debug_abbrev")),
      texts_(find_section(file, ".debug_str")),
      line_texts_(find_section(file, ".debug_line_str")),
      text_places_(find_section(file, ".debug_str_offsets")) {}

std::vector<DwarfReader::Unit> DwarfReader::units() const {
  std::vector<Unit> units;
  for (std::uint64_t at = 0; at < info_.size() && units.size() < kMostUnits;) {
    Unit unit;
    unit.start = at;
    Cursor in(info_, at);
    std::uint64_t bytes = in.number(4);
    unit.wide = bytes == 0xFFFF'FFFF;
    if (unit.wide) bytes = in.number(8);
    if (!in.ok() || bytes > info_.size() - in.at()) break;
    unit.end = at = in.at() + bytes;
    unit.version = static_cast<unsigned>(in.number(2));
    if (unit.version < 2 || unit.version > 5) continue;
    const std::uint64_t kind = unit.version == 5 ? in.number(1) : kCompileUnit;
    if (unit.version == 5) unit.address_bytes = static_cast<unsigned>(in.number(1));
    const std::uint64_t shapes = in.number(unit.wide ? 8 : 4);
    if (unit.version < 5) unit.address_bytes = static_cast<unsigned>(in.number(1));
    unit.first = in.at();
    unit.names = unit.wide ? 16 : 8;  // behind the header of a table that has one part only
    if (kind != kCompileUnit || !in.ok() || unit.address_bytes > 8 || !read_shapes(unit, shapes)) continue;
    if (const auto head = read(unit, unit.first); head && head->names) unit.names = *head->names;
    units.push_back(std::move(unit));
  }
  return units;
}

bool DwarfReader::read_shapes(Unit& unit, std::uint64_t at) const {
  Cursor in(shapes_, at);
  while (in.ok() && unit.shapes.size() < kMostShapes) {
    const std::uint64_t code = in.variable();
    if (code == 0) return in.ok();
    Unit::Shape shape;
    shape.tag = static_cast<DwarfTag>(in.variable());
    shape.has_children = in.number(1) != 0;
    for (;;) {
      Unit::Attribute attribute{in.variable(), in.variable()};
      if (attribute.form == kImplicitConst) attribute.value = in.variable();
      if (!in.ok() || (attribute.name == 0 && attribute.form == 0)) break;
      shape.attributes.push_back(attribute);
    }
    unit.shapes.emplace(code, std::move(shape));
  }
  return false;
}

std::optional<DwarfEntry> DwarfReader::read(const Unit& unit, std::uint64_t at) const {
  if (at < unit.first || at >= unit.end) return std::nullopt;
  Cursor in(info_.first(unit.end), at);
  DwarfEntry entry;
  if (const std::uint64_t code = in.variable(); code != 0) {
    const auto shape = unit.shapes.find(code);
    if (shape == unit.shapes.end()) return std::nullopt;
    entry.tag = shape->second.tag;
    entry.has_children = shape->second.has_children;
    for (const Unit::Attribute& attribute : shape->second.attributes) read_attribute(unit, attribute, in, entry);
  }
  entry.next = in.at();
  if (!in.ok()) return std::nullopt;
  return entry;
}

void DwarfReader::read_attribute(const Unit& unit, const Unit::Attribute& attribute, Cursor& in,
                                 DwarfEntry& entry) const {
  const unsigned offset_bytes = unit.wide ? 8 : 4;
  std::uint64_t value = 0;
  std::string text;
  bool is_place = false;  // within the unit
  switch (attribute.form) {
    case kAddr: in.skip(unit.address_bytes); break;
    case kBlock1: in.skip(in.number(1)); break;
    case kBlock2: in.skip(in.number(2)); break;
    case kBlock4: in.skip(in.number(4)); break;
    case kBlock:
    case kExprloc: in.skip(in.variable()); break;
    case kData1:
    case kFlag:
    case kAddrx1: value = in.number(1); break;
    case kData2:
    case 0x2a: value = in.number(2); break;  // addrx2
    case 0x2b: value = in.number(3); break;  // addrx3
    case kData4:
    case kAddrx4: value = in.number(4); break;
    case kData8:
    case kRefSig8: value = in.number(8); break;
    case kData16: in.skip(16); break;
    case kSdata:
    case kUdata:
    case kAddrx:
    case kLoclistx:
    case kRnglistx: value = in.variable(); break;
    case kFlagPresent: break;
    case kImplicitConst: value = attribute.value; break;
    case kSecOffset: value = in.number(offset_bytes); break;
    case kString: text = in.text(); break;
    case kStrp: text = text_at(texts_, in.number(offset_bytes)); break;
    case kLineStrp: text = text_at(line_texts_, in.number(offset_bytes)); break;
    case kStrx: text = numbered_text(unit, in.variable()); break;
    case kStrx1: text = numbered_text(unit, in.number(1)); break;
    case kStrx2: text = numbered_text(unit, in.number(2)); break;
    case kStrx3: text = numbered_text(unit, in.number(3)); break;
    case kStrx4: text = numbered_text(unit, in.number(4)); break;
    case kRefAddr: value = in.number(unit.version == 2 ? unit.address_bytes : offset_bytes); break;
    case kRef1:
    case kRef2:
    case kRef4:
    case kRef8: {
      const unsigned bytes = 1U << (attribute.form - kRef1);
      value = in.number(bytes);
      is_place = true;
      break;
    }
    case kRefUdata:
      value = in.variable();
      is_place = true;
      break;
    default: in.skip(UINT64_MAX); break;  // a form that is not known has no known end
  }
  if (attribute.name == kName) entry.name = std::move(text);
  const bool is_block = attribute.form == kExprloc || attribute.form == kBlock || attribute.form == kBlock1 ||
                        attribute.form == kBlock2 || attribute.form == kBlock4;
  if (attribute.name == kByteSize && attribute.form != kExprloc) entry.bytes = value;
  if (attribute.name == kMemberOffset && !is_block) entry.offset = value;
  if (attribute.name == kEncoding) entry.encoding = value;
  if (attribute.name == kCount && !is_block && !is_place) entry.count = value;
  // An upper bound that refers to another entry is one of a length that is known at run time only.
  if (attribute.name == kUpperBound && !is_block && !is_place) entry.count = value + 1;
  if (attribute.name == kBitSize) entry.is_bit_field = true;
  if (attribute.name == kNamesBase) entry.names = value;
  if (attribute.name == kType) entry.type = is_place ? unit.start + value : value;
}

std::string DwarfReader::text_at(Section section, std::uint64_t at) const {
  if (at >= section.size()) return {};
  const auto* text = reinterpret_cast<const char*>(section.data() + at);
  return std::string(text, ::strnlen(text, section.size() - at));
}

std::string DwarfReader::numbered_text(const Unit& unit, std::uint64_t index) const {
  const unsigned bytes = unit.wide ? 8 : 4;
  if (index > text_places_.size()) return {};
  Cursor in(text_places_, unit.names + index * bytes);
  const std::uint64_t at = in.number(bytes);
  return in.ok() ? text_at(texts_, at) : std::string();
}

}  // namespace softtpu
