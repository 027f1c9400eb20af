#include "runtime/module/module_arguments.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <vector>

#include "runtime/module/dwarf_reader.hpp"

namespace softtpu {
namespace {

// A larger file takes longer to read than a message is worth.
constexpr off_t kMostBytes = 64 << 20;
constexpr int kMostSteps = 16;  // from a variable to its struct

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

class Search {
 public:
  Search(const DwarfReader& reader, const DwarfReader::Unit& unit) : reader_(reader), unit_(unit) {}

  // The arguments of the unit's function of this name.
  std::optional<KernelArguments> arguments_of(const std::string& kernel) const {
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
  std::optional<KernelArguments> arguments_in(std::uint64_t at) const {
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
  std::optional<KernelArguments> struct_of(std::uint64_t at, const std::string& variable) const {
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
        return KernelArguments{name.empty() ? "struct" : name, *entry->bytes};
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

}  // namespace

std::optional<KernelArguments> find_arguments(int image, const std::string& kernel) {
  const MappedFile file(image);
  const DwarfReader reader(file.bytes());
  for (const DwarfReader::Unit& unit : reader.units()) {
    if (auto found = Search(reader, unit).arguments_of(kernel)) return found;
  }
  return std::nullopt;
}

}  // namespace softtpu
