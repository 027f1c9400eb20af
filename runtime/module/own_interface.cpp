#include "runtime/module/own_interface.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "runtime/module/elf_file.hpp"
#include "runtime/module/module_image.hpp"

namespace softtpu {
namespace {

// A file's bytes, which can be changed without changing the file.
class PrivateBytes {
 public:
  explicit PrivateBytes(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || status.st_size <= 0) return;
    void* const at =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<std::uint8_t*>(at), static_cast<std::size_t>(status.st_size)};
  }
  ~PrivateBytes() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }
  PrivateBytes(const PrivateBytes&) = delete;
  PrivateBytes& operator=(const PrivateBytes&) = delete;
  std::span<std::uint8_t> all() const { return bytes_; }

 private:
  std::span<std::uint8_t> bytes_;
};

// The tables by which a loader works. Whatever lies outside of the file is not there.
class Tables {
 public:
  explicit Tables(std::span<std::uint8_t> file) : file_(file) {
    const auto segments = ElfFile(file).segments();
    if (!segments) return;
    for (const Elf64_Phdr& part : *segments) {
      if (part.p_type == PT_LOAD) loaded_.push_back(part);
      if (part.p_type == PT_DYNAMIC) read_dynamic(part.p_offset, part.p_filesz);
    }
  }

  struct Symbol {
    Elf64_Sym* row = nullptr;
    std::string_view name;
    std::size_t number = 0;
  };
  std::optional<Symbol> symbol(std::size_t number) const {
    auto* const row = of_address<Elf64_Sym>(symbols_, number);
    if (row == nullptr || row->st_name >= names_bytes_) return std::nullopt;
    const auto place = offset_of(names_ + row->st_name);
    if (!place) return std::nullopt;
    const std::size_t most = std::min<std::size_t>(names_bytes_ - row->st_name, file_.size() - *place);
    const auto* text = reinterpret_cast<const char*>(&file_[*place]);
    return Symbol{row, {text, ::strnlen(text, most)}, number};
  }
  // The numbers of the symbols that relocations name.
  std::set<std::size_t> relocated() const {
    std::set<std::size_t> numbers;
    for (const auto& [address, bytes] : relocations_) {
      for (std::size_t i = 0; i < bytes / sizeof(Elf64_Rela); ++i) {
        const auto* row = of_address<Elf64_Rela>(address, i);
        if (row == nullptr) break;
        numbers.insert(ELF64_R_SYM(row->r_info));
      }
    }
    return numbers;
  }
  // Versions are those of the module's own symbols; an import has none.
  void make_import(const Symbol& symbol) const {
    symbol.row->st_shndx = SHN_UNDEF;
    symbol.row->st_value = 0;
    symbol.row->st_size = 0;
    auto* const version = versions_ == 0 ? nullptr : of_address<Elf64_Versym>(versions_, symbol.number);
    if (version != nullptr) *version = VER_NDX_GLOBAL;
  }

 private:
  void read_dynamic(std::uint64_t offset, std::uint64_t bytes) {
    std::uint64_t calls = 0;
    std::uint64_t calls_bytes = 0;
    std::uint64_t others = 0;
    std::uint64_t others_bytes = 0;
    for (std::uint64_t i = 0; i < bytes / sizeof(Elf64_Dyn); ++i) {
      const auto* row = at<Elf64_Dyn>(offset + i * sizeof(Elf64_Dyn));
      if (row == nullptr || row->d_tag == DT_NULL) break;
      switch (row->d_tag) {
        case DT_STRTAB: names_ = row->d_un.d_ptr; break;
        case DT_STRSZ: names_bytes_ = row->d_un.d_val; break;
        case DT_SYMTAB: symbols_ = row->d_un.d_ptr; break;
        case DT_VERSYM: versions_ = row->d_un.d_ptr; break;
        case DT_JMPREL: calls = row->d_un.d_ptr; break;
        case DT_PLTRELSZ: calls_bytes = row->d_un.d_val; break;
        case DT_RELA: others = row->d_un.d_ptr; break;
        case DT_RELASZ: others_bytes = row->d_un.d_val; break;
        default: break;
      }
    }
    relocations_ = {{calls, calls_bytes}, {others, others_bytes}};
  }
  template <class T>
  T* at(std::uint64_t offset) const {
    const bool inside = offset <= file_.size() && sizeof(T) <= file_.size() - offset && offset % alignof(T) == 0;
    return inside ? reinterpret_cast<T*>(&file_[offset]) : nullptr;
  }
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& part : loaded_) {
      if (address >= part.p_vaddr && address - part.p_vaddr < part.p_filesz) {
        const std::uint64_t offset = part.p_offset + (address - part.p_vaddr);
        return offset < file_.size() ? std::optional(offset) : std::nullopt;
      }
    }
    return std::nullopt;
  }
  template <class T>
  T* of_address(std::uint64_t table, std::size_t number) const {
    const auto offset = offset_of(table + number * sizeof(T));
    return offset ? at<T>(*offset) : nullptr;
  }

  std::span<std::uint8_t> file_;
  std::vector<Elf64_Phdr> loaded_;
  std::uint64_t names_ = 0, names_bytes_ = 0, symbols_ = 0, versions_ = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> relocations_;
};

// Its functions of the interface that it calls through its table of imports; none if it does not bring all of them.
std::vector<Tables::Symbol> own_functions(const Tables& tables) {
  std::vector<Tables::Symbol> own;
  bool whole = false;
  for (const std::size_t number : tables.relocated()) {
    const auto symbol = tables.symbol(number);
    if (!symbol || symbol->row->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->row->st_info) != STT_FUNC ||
        !symbol->name.starts_with("tpu_"))
      continue;
    whole = whole || symbol->name == "tpu_initialize";
    own.push_back(*symbol);
  }
  if (!whole) own.clear();
  return own;
}

}  // namespace

bool brings_interface(int image) {
  const PrivateBytes bytes(image);
  return !bytes.all().empty() && !own_functions(Tables(bytes.all())).empty();
}

Result<UniqueFd> import_interface(UniqueFd image, bool (*has)(const char* name)) {
  const PrivateBytes bytes(image.get());
  if (bytes.all().empty()) return image;
  const Tables tables(bytes.all());
  bool changed = false;
  for (const Tables::Symbol& symbol : own_functions(tables)) {
    if (!has(std::string(symbol.name).c_str())) continue;
    tables.make_import(symbol);
    changed = true;
  }
  if (!changed) return image;
  return copy_module_bytes(bytes.all());
}

}  // namespace softtpu
