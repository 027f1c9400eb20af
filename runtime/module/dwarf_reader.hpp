// Entries of an ELF file's debug information (DWARF 2 to 5), as far as names, types and sizes go. What is
// damaged reads as nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softtpu {

// Tags of entries, as the standard numbers them.
enum class DwarfTag : std::uint64_t {
  kNone = 0,
  kArrayType = 0x01,
  kEnumerationType = 0x04,
  kFormalParameter = 0x05,
  kLexicalBlock = 0x0b,
  kMember = 0x0d,
  kPointerType = 0x0f,
  kStructureType = 0x13,
  kTypedef = 0x16,
  kUnionType = 0x17,
  kSubrangeType = 0x21,
  kBaseType = 0x24,
  kConstType = 0x26,
  kSubprogram = 0x2e,
  kVariable = 0x34,
  kVolatileType = 0x35,
};

struct DwarfEntry {
  DwarfTag tag = DwarfTag::kNone;  // kNone: the end of a list of children
  bool has_children = false;
  std::string name;
  std::optional<std::uint64_t> type;  // where the entry of its type is
  std::optional<std::uint64_t> bytes;
  std::optional<std::uint64_t> offset;    // of a member, in its struct
  std::optional<std::uint64_t> encoding;  // of a base type, as the standard numbers them
  std::optional<std::uint64_t> count;     // elements of an array's dimension
  bool is_bit_field = false;
  std::optional<std::uint64_t> names;  // of a unit's first entry: where its part of the table of names begins
  std::uint64_t next = 0;              // where the entry behind it is
};

class DwarfReader {
 public:
  // The sections are parts of the file, which stays where it is. An empty reader: there is no debug information that
  // can be read (compressed sections are not).
  explicit DwarfReader(std::span<const std::uint8_t> file);

  struct Unit {
    std::uint64_t first = 0, end = 0;  // of its entries
    std::uint64_t start = 0;
    bool wide = false;  // offsets have 8 bytes
    unsigned version = 0, address_bytes = 8;
    std::uint64_t names = 0;  // where its part of the table of names begins
    struct Attribute {
      std::uint64_t name = 0, form = 0;
      std::uint64_t value = 0;  // of a form that has the same in every entry
    };
    struct Shape {
      DwarfTag tag = DwarfTag::kNone;
      bool has_children = false;
      std::vector<Attribute> attributes;
    };
    std::map<std::uint64_t, Shape> shapes;
  };
  // The units of compiled sources; damaged ones and those of other kinds are left out.
  std::vector<Unit> units() const;
  std::optional<DwarfEntry> read(const Unit& unit, std::uint64_t at) const;

 private:
  class Cursor;
  bool read_shapes(Unit& unit, std::uint64_t at) const;
  void read_attribute(const Unit& unit, const Unit::Attribute& attribute, Cursor& in, DwarfEntry& entry) const;
  std::string text_at(std::span<const std::uint8_t> section, std::uint64_t at) const;
  std::string numbered_text(const Unit& unit, std::uint64_t index) const;

  std::span<const std::uint8_t> info_, shapes_, texts_, line_texts_, text_places_;
};

}  // namespace softtpu
