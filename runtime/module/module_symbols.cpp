#include "runtime/module/module_symbols.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/module/elf_file.hpp"

namespace softtpu {
namespace {

// The section table of a module and what it leads to.
struct Sections {
  ElfFile file;
  std::vector<Elf64_Shdr> list;

  // The text that a section's rows name; ends with a zero byte. Empty: none.
  std::vector<char> texts_of(const Elf64_Shdr& section) const {
    if (section.sh_link >= list.size()) return {};
    auto text = file.items<char>(list[section.sh_link].sh_offset, list[section.sh_link].sh_size);
    text.push_back('\0');
    return text;
  }
};

Result<Sections> read_sections(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    return Error{ErrorKind::kUsage, fmt::format("kernel module {}: {}", name, std::strerror(errno))};
  }
  const ElfFile file(fd, static_cast<std::uint64_t>(status.st_size));
  auto sections = file.sections();
  if (!sections) return Error{ErrorKind::kUsage, fmt::format("kernel module {}: it has no section table.", name)};
  return Sections{file, *std::move(sections)};
}

// The calls of a module, read from its code without decoding it: wherever four bytes of a function, taken as a distance
// from their end, lead to a function, to a stub of the procedure linkage table or to an address slot. Some such bytes
// are no distance at all, so that too much may count as called, never too little.
class CallGraph {
 public:
  explicit CallGraph(const Sections& sections) : sections_(sections) {
    for (const Elf64_Shdr& section : sections.list) {
      if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) read_functions(section);
    }
    for (const Elf64_Shdr& section : sections.list) {
      if (section.sh_type == SHT_RELA) read_slots(section);
    }
  }

  // Undefined symbols that the functions reach which run when the module is loaded; they register its kernels, and so
  // lead to them. nullopt: they register none.
  std::optional<std::set<std::string>> needed_by_kernels() {
    visit_all(first_);
    if (std::none_of(needed_.begin(), needed_.end(), registers)) return std::nullopt;
    return needed_;
  }

 private:
  static bool registers(const std::string& symbol) { return symbol.find("register_kernel_func") != std::string::npos; }

  void read_functions(const Elf64_Shdr& section) {
    for (const Elf64_Sym& symbol : sections_.file.items<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      const bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
      if (function && symbol.st_shndx != SHN_UNDEF) functions_[symbol.st_value] = symbol.st_size;
    }
  }

  // Addresses that the loader fills in: of functions of other libraries by name, of the module's own by value.
  void read_slots(const Elf64_Shdr& section) {
    if (section.sh_link >= sections_.list.size()) return;
    const Elf64_Shdr& table = sections_.list[section.sh_link];
    const auto symbols = sections_.file.items<Elf64_Sym>(table.sh_offset, table.sh_size);
    const auto text = sections_.texts_of(table);
    for (const Elf64_Rela& row : sections_.file.items<Elf64_Rela>(section.sh_offset, section.sh_size)) {
      const std::size_t index = ELF64_R_SYM(row.r_info);
      if (index == 0 || index >= symbols.size()) {
        add_pointer(row.r_offset, static_cast<std::uint64_t>(row.r_addend));
      } else if (symbols[index].st_shndx != SHN_UNDEF) {
        const auto value = symbols[index].st_value + static_cast<std::uint64_t>(row.r_addend);
        slots_[row.r_offset] = value;
        if (ELF64_R_TYPE(row.r_info) == R_X86_64_64) add_pointer(row.r_offset, value);
      } else if (symbols[index].st_name < text.size()) {
        names_[row.r_offset] = &text[symbols[index].st_name];
      }
    }
  }

  // A pointer among the module's data may be called by anything. Functions that run when the module is loaded lead to
  // the kernels.
  void add_pointer(std::uint64_t at, std::uint64_t to) {
    slots_[at] = to;
    if (functions_.contains(to) && !is_finisher(at)) first_.push_back(to);
  }

  bool is_finisher(std::uint64_t at) const {
    return std::any_of(sections_.list.begin(), sections_.list.end(), [&](const Elf64_Shdr& section) {
      return section.sh_type == SHT_FINI_ARRAY && at - section.sh_addr < section.sh_size;
    });
  }

  // The contents of `bytes` bytes of code at an address.
  std::vector<std::uint8_t> code_at(std::uint64_t address, std::uint64_t bytes) const {
    for (const Elf64_Shdr& section : sections_.list) {
      const bool code = section.sh_type == SHT_PROGBITS && (section.sh_flags & SHF_EXECINSTR) != 0;
      if (!code || address < section.sh_addr || address - section.sh_addr >= section.sh_size) continue;
      const std::uint64_t offset = address - section.sh_addr;
      return sections_.file.items<std::uint8_t>(section.sh_offset + offset, std::min(bytes, section.sh_size - offset));
    }
    return {};
  }

  void visit_all(std::vector<std::uint64_t> waiting) {
    std::set<std::uint64_t> seen;
    while (!waiting.empty()) {
      const std::uint64_t function = waiting.back();
      waiting.pop_back();
      if (!seen.insert(function).second) continue;
      for_each_distance(function, functions_.at(function), [&](std::uint64_t to) {
        if (const auto slot = names_.find(to); slot != names_.end()) needed_.insert(slot->second);
        if (const auto slot = slots_.find(to); slot != slots_.end()) to = slot->second;
        if (functions_.contains(to)) waiting.push_back(to);
        if (const std::string* name = behind_stub(to)) needed_.insert(*name);
      });
    }
  }

  template <class F>
  void for_each_distance(std::uint64_t address, std::uint64_t bytes, F f) const {
    const std::vector<std::uint8_t> code = code_at(address, bytes);
    for (std::size_t at = 0; at + sizeof(std::int32_t) <= code.size(); ++at) {
      std::int32_t distance = 0;
      std::memcpy(&distance, &code[at], sizeof distance);
      f(address + at + sizeof distance + static_cast<std::uint64_t>(std::int64_t{distance}));
    }
  }

  // A stub jumps through the slot of its function: jmp *distance(%rip) is FF 25 and the distance. Null: no stub.
  const std::string* behind_stub(std::uint64_t address) const {
    constexpr std::uint64_t kStubBytes = 16;
    if (address % 8 != 0) return nullptr;
    const std::vector<std::uint8_t> code = code_at(address, kStubBytes);
    for (std::size_t at = 0; at + 6 <= code.size(); ++at) {
      if (code[at] != 0xFF || code[at + 1] != 0x25) continue;
      std::int32_t distance = 0;
      std::memcpy(&distance, &code[at + 2], sizeof distance);
      const auto slot = names_.find(address + at + 6 + static_cast<std::uint64_t>(std::int64_t{distance}));
      return slot != names_.end() ? &slot->second : nullptr;
    }
    return nullptr;
  }

  const Sections& sections_;
  std::map<std::uint64_t, std::uint64_t> functions_;  // address, bytes
  std::map<std::uint64_t, std::string> names_;        // slots of other libraries' functions
  std::map<std::uint64_t, std::uint64_t> slots_;      // slots and pointers of the module's own
  std::vector<std::uint64_t> first_;
  std::set<std::string> needed_;
};

bool is_for_x86_64(const Sections& sections) {
  const auto header = sections.file.header();
  return header && header->e_machine == EM_X86_64;
}

}  // namespace

Result<std::vector<std::string>> reachable_symbols(int fd, const std::string& name) {
  const auto sections = read_sections(fd, name);
  if (!sections) return sections.error();
  auto all = undefined_symbols(fd, name);
  if (!all || !is_for_x86_64(*sections)) return all;
  CallGraph graph(*sections);
  if (const auto needed = graph.needed_by_kernels())
    std::erase_if(*all, [&](const std::string& symbol) { return !needed->contains(symbol); });
  return all;
}

Result<std::vector<std::string>> undefined_symbols(int fd, const std::string& name) {
  const auto sections = read_sections(fd, name);
  if (!sections) return sections.error();
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections->list) {
    const auto text = section.sh_type == SHT_DYNSYM ? sections->texts_of(section) : std::vector<char>();
    if (text.empty()) continue;
    for (const Elf64_Sym& symbol : sections->file.items<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      const bool undefined = symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
      if (undefined && symbol.st_name != 0 && symbol.st_name < text.size()) names.emplace_back(&text[symbol.st_name]);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> needed_libraries(int fd, const std::string& name) {
  const auto sections = read_sections(fd, name);
  if (!sections) return sections.error();
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections->list) {
    const auto text = section.sh_type == SHT_DYNAMIC ? sections->texts_of(section) : std::vector<char>();
    if (text.empty()) continue;
    for (const Elf64_Dyn& row : sections->file.items<Elf64_Dyn>(section.sh_offset, section.sh_size)) {
      if (row.d_tag == DT_NULL) break;
      if (row.d_tag == DT_NEEDED && row.d_un.d_val < text.size()) names.emplace_back(&text[row.d_un.d_val]);
    }
  }
  return names;
}

}  // namespace softtpu
