#include "runtime/module/module_arguments.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "runtime/base/unreachable.hpp"
#include "runtime/module/dwarf_reader.hpp"

namespace softtpu {
namespace {

// A larger file takes longer to read than a message is worth.
constexpr off_t kMostBytes = 64 << 20;
constexpr int kMostSteps = 16;  // from a variable to its struct
constexpr int kMostDepth = 8;   // of structs in structs
constexpr std::size_t kMostMembers = 4096;

// Structs of the SDKs' headers that kernels have variables of: none is a kernel's arguments.
constexpr std::array<std::string_view, 6> kPublished = {"dim2", "dim4", "dim5", "scalar_t", "variable_t", "tensor_t"};

class MappedFile {
 public:
  explicit MappedFile(int fd) {
    struct stat status {};
    if (fd < 0 || ::fstat(fd, &status) != 0 || status.st_size <= 0 || status.st_size > kMostBytes) return;
    void* data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return;
    bytes_ = {static_cast<const std::uint8_t*>(data), static_cast<std::size_t>(status.st_size)};
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (!bytes_.empty()) ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
  }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct ArgumentStruct {
  KernelArguments arguments;
  std::uint64_t at = 0;  // its entry
};

class Search {
 public:
  Search(const DwarfReader& reader, const DwarfReader::Unit& unit) : reader_(reader), unit_(unit) {}

  // The arguments of the unit's function of this name.
  std::optional<ArgumentStruct> arguments_of(const std::string& kernel) const {
    for (std::uint64_t at = unit_.first; at < unit_.end;) {
      const auto entry = reader_.read(unit_, at);
      if (!entry) return std::nullopt;
      at = entry->next;
      if (entry->tag != DwarfTag::kSubprogram || entry->name != kernel || !entry->has_children) continue;
      if (auto found = arguments_in(entry->next)) return found;
    }
    return std::nullopt;
  }

 private:
  // Parameters stand before variables, and variables in the order of their declarations.
  std::optional<ArgumentStruct> arguments_in(std::uint64_t at) const {
    for (int depth = 1; depth > 0;) {
      const auto entry = reader_.read(unit_, at);
      if (!entry) return std::nullopt;
      at = entry->next;
      if (entry->tag == DwarfTag::kNone) --depth;
      if (entry->has_children) ++depth;
      const bool is_variable = entry->tag == DwarfTag::kFormalParameter || entry->tag == DwarfTag::kVariable;
      if (!is_variable || !entry->type) continue;
      if (auto found = struct_of(*entry->type, entry->name)) return found;
    }
    return std::nullopt;
  }

  // A struct of its own may be anything that the kernel works with, so it has to be called what it is.
  static bool is_called_arguments(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char letter) { return static_cast<char>(std::tolower(letter)); });
    return name.find("arg") != std::string::npos || name.find("param") != std::string::npos;
  }

  // The struct that a variable's type points to, or is.
  std::optional<ArgumentStruct> struct_of(std::uint64_t at, const std::string& variable) const {
    std::string name;
    int pointers = 0;
    for (int i = 0; i < kMostSteps; ++i) {
      const auto entry = reader_.read(unit_, at);
      if (!entry) return std::nullopt;
      if (entry->tag == DwarfTag::kTypedef || entry->tag == DwarfTag::kStructureType) {
        if (name.empty()) name = entry->name;
        if (std::find(kPublished.begin(), kPublished.end(), name) != kPublished.end()) return std::nullopt;
      }
      if (entry->tag == DwarfTag::kPointerType && ++pointers > 1) return std::nullopt;
      if (entry->tag == DwarfTag::kStructureType) {
        if (!entry->bytes || *entry->bytes == 0) return std::nullopt;
        if (pointers == 0 && !is_called_arguments(variable) && !is_called_arguments(name)) return std::nullopt;
        return ArgumentStruct{{name.empty() ? "struct" : name, *entry->bytes}, at};
      }
      const bool goes_on = entry->tag == DwarfTag::kTypedef || entry->tag == DwarfTag::kPointerType ||
                           entry->tag == DwarfTag::kConstType || entry->tag == DwarfTag::kVolatileType;
      if (!goes_on || !entry->type) return std::nullopt;
      at = *entry->type;
    }
    return std::nullopt;
  }

  const DwarfReader& reader_;
  const DwarfReader::Unit& unit_;
};

// Reads a struct's members and their types.
class LayoutReader {
 public:
  LayoutReader(const DwarfReader& reader, const DwarfReader::Unit& unit) : reader_(reader), unit_(unit) {}

  std::optional<std::vector<ArgumentMember>> members_of(std::uint64_t at, int depth = 0) {
    const auto owner = reader_.read(unit_, at);
    if (!owner || depth > kMostDepth) return std::nullopt;
    std::vector<ArgumentMember> members;
    if (!owner->has_children) return members;
    int level = 1;
    for (std::uint64_t next = owner->next; level > 0;) {
      const auto entry = reader_.read(unit_, next);
      if (!entry) return std::nullopt;
      next = entry->next;
      if (entry->tag == DwarfTag::kMember && level == 1) {
        auto member = to_member(*entry, owner->tag == DwarfTag::kUnionType, depth);
        if (!member) return std::nullopt;
        members.push_back(*std::move(member));
      }
      if (entry->tag == DwarfTag::kNone) --level;
      if (entry->has_children) ++level;
    }
    return members;
  }

 private:
  std::optional<ArgumentMember> to_member(const DwarfEntry& entry, bool of_union, int depth) {
    if (entry.is_bit_field || !entry.type || (!entry.offset && !of_union) || ++members_ > kMostMembers)
      return std::nullopt;
    ArgumentMember member;
    member.name = entry.name;
    member.offset = entry.offset.value_or(0);
    if (!set_type(member, *entry.type, depth)) return std::nullopt;
    return member;
  }

  // Follows names, qualifiers and arrays to what the elements are.
  bool set_type(ArgumentMember& member, std::uint64_t at, int depth) {
    for (int i = 0; i < kMostSteps; ++i) {
      const auto entry = reader_.read(unit_, at);
      if (!entry) return false;
      if (member.type.empty()) member.type = entry->name;
      switch (entry->tag) {
        case DwarfTag::kTypedef:
        case DwarfTag::kConstType:
        case DwarfTag::kVolatileType: break;
        case DwarfTag::kArrayType:
          if (!add_counts(member, *entry)) return false;
          break;
        case DwarfTag::kPointerType:
          member.kind = ArgumentKind::kPointer;
          if (member.type.empty()) member.type = "pointer";
          member.bytes = entry->bytes.value_or(unit_.address_bytes);
          return true;
        case DwarfTag::kStructureType:
        case DwarfTag::kUnionType: {
          const bool is_struct = entry->tag == DwarfTag::kStructureType;
          member.kind = is_struct ? ArgumentKind::kStruct : ArgumentKind::kUnion;
          if (member.type.empty()) member.type = is_struct ? "struct" : "union";
          auto inner = members_of(at, depth + 1);
          if (!inner || !entry->bytes) return false;
          member.members = *std::move(inner);
          member.bytes = *entry->bytes;
          return true;
        }
        case DwarfTag::kEnumerationType:
          member.kind = ArgumentKind::kEnum;
          if (member.type.empty()) member.type = "enum";
          member.bytes = entry->bytes.value_or(4);
          return true;
        case DwarfTag::kBaseType: return set_base(member, *entry);
        default: return false;
      }
      if (!entry->type) return false;
      at = *entry->type;
    }
    return false;
  }

  static bool set_base(ArgumentMember& member, const DwarfEntry& base) {
    // As the standard numbers encodings.
    enum : std::uint64_t { kBoolean = 2, kFloat = 4, kSigned = 5, kSignedChar = 6, kUnsigned = 7, kUnsignedChar = 8 };
    if (!base.bytes || !base.encoding) return false;
    member.bytes = *base.bytes;
    switch (*base.encoding) {
      case kBoolean: member.kind = ArgumentKind::kBool; return true;
      case kFloat: member.kind = ArgumentKind::kFloat; return true;
      case kSigned:
      case kSignedChar: member.kind = ArgumentKind::kSigned; return true;
      case kUnsigned:
      case kUnsignedChar: member.kind = ArgumentKind::kUnsigned; return true;
      default: return false;
    }
  }

  // One child for each dimension. One without a number is a flexible array, of no element.
  bool add_counts(ArgumentMember& member, const DwarfEntry& array) {
    if (!array.has_children) return false;
    for (std::uint64_t next = array.next;;) {
      const auto entry = reader_.read(unit_, next);
      if (!entry) return false;
      if (entry->tag == DwarfTag::kNone) return true;
      next = entry->next;
      if (entry->tag != DwarfTag::kSubrangeType || entry->has_children) return false;
      member.counts.push_back(entry->count.value_or(0));
    }
  }

  const DwarfReader& reader_;
  const DwarfReader::Unit& unit_;
  std::size_t members_ = 0;
};

}  // namespace

std::optional<KernelArguments> find_arguments(int image, const std::string& kernel) {
  const MappedFile file(image);
  const DwarfReader reader(file.bytes());
  for (const DwarfReader::Unit& unit : reader.units()) {
    if (auto found = Search(reader, unit).arguments_of(kernel)) return found->arguments;
  }
  return std::nullopt;
}

std::optional<ArgumentLayout> find_argument_layout(int image, const std::string& kernel) {
  const MappedFile file(image);
  const DwarfReader reader(file.bytes());
  for (const DwarfReader::Unit& unit : reader.units()) {
    const auto found = Search(reader, unit).arguments_of(kernel);
    if (!found) continue;
    auto members = LayoutReader(reader, unit).members_of(found->at);
    if (!members) return std::nullopt;
    return ArgumentLayout{found->arguments.type, found->arguments.bytes, *std::move(members)};
  }
  return std::nullopt;
}

std::string_view to_text(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kSigned: return "signed";
    case ArgumentKind::kUnsigned: return "unsigned";
    case ArgumentKind::kFloat: return "float";
    case ArgumentKind::kBool: return "bool";
    case ArgumentKind::kEnum: return "enum";
    case ArgumentKind::kPointer: return "pointer";
    case ArgumentKind::kStruct: return "struct";
    case ArgumentKind::kUnion: return "union";
  }
  unreachable(kind);
}

}  // namespace softtpu
