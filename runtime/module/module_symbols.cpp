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

}  // namespace

Result<std::vector<std::string>> undefined_symbols(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    return Error{ErrorKind::kUsage, fmt::format("kernel module {}: {}", name, std::strerror(errno))};
  }
  const ElfFile file(fd, static_cast<std::uint64_t>(status.st_size));
  const auto header = file.items<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (header.empty() || header[0].e_shentsize != sizeof(Elf64_Shdr)) {
    return Error{ErrorKind::kUsage, fmt::format("kernel module {}: it has no section table.", name)};
  }
  const auto sections =
      file.items<Elf64_Shdr>(header[0].e_shoff, std::uint64_t{header[0].e_shnum} * sizeof(Elf64_Shdr));
  std::vector<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    auto text = file.items<char>(strings.sh_offset, strings.sh_size);
    text.push_back('\0');
    for (const Elf64_Sym& symbol : file.items<Elf64_Sym>(section.sh_offset, section.sh_size)) {
      const bool undefined = symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL;
      if (undefined && symbol.st_name != 0 && symbol.st_name < text.size()) names.emplace_back(&text[symbol.st_name]);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace softtpu
