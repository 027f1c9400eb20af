#include "runtime/module/module_symbols.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace softtpu {
namespace {

constexpr std::uint64_t kMostTableBytes = 64U << 20;

class ElfFile {
 public:
  ElfFile(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {}

  // The items at an offset; empty when they do not lie inside the file.
  template <class T>
  std::vector<T> items(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes > kMostTableBytes || offset > bytes_ || bytes > bytes_ - offset) return {};
    std::vector<T> list(bytes / sizeof(T));
    const auto want = static_cast<ssize_t>(list.size() * sizeof(T));
    if (::pread(fd_, list.data(), list.size() * sizeof(T), static_cast<off_t>(offset)) != want) return {};
    return list;
  }

 private:
  int fd_;
  std::uint64_t bytes_;
};

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
  const auto header = file.items<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (header.empty() || header[0].e_shentsize != sizeof(Elf64_Shdr)) {
    return Error{ErrorKind::kUsage, fmt::format("kernel module {}: it has no section table.", name)};
  }
  const std::uint64_t bytes = std::uint64_t{header[0].e_shnum} * sizeof(Elf64_Shdr);
  return Sections{file, file.items<Elf64_Shdr>(header[0].e_shoff, bytes)};
}

}  // namespace

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
