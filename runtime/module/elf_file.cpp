#include "runtime/module/elf_file.hpp"

#include <unistd.h>

#include <cstring>

namespace softtpu {

bool ElfFile::read(void* to, std::size_t bytes, std::uint64_t offset) const {
  if (contents_.empty()) return ::pread(fd_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  std::memcpy(to, contents_.data() + offset, bytes);
  return true;
}

std::optional<Elf64_Ehdr> ElfFile::header() const {
  const auto header = items<Elf64_Ehdr>(0, sizeof(Elf64_Ehdr));
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return header[0];
}

std::optional<std::vector<Elf64_Shdr>> ElfFile::sections() const {
  const auto head = header();
  if (!head || head->e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  return items<Elf64_Shdr>(head->e_shoff, std::uint64_t{head->e_shnum} * sizeof(Elf64_Shdr));
}

std::optional<std::vector<Elf64_Phdr>> ElfFile::segments() const {
  const auto head = header();
  if (!head || head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum == 0) return std::nullopt;
  auto segments = items<Elf64_Phdr>(head->e_phoff, std::uint64_t{head->e_phnum} * sizeof(Elf64_Phdr));
  if (segments.empty()) return std::nullopt;
  return segments;
}

}  // namespace softtpu
