// The tables of a 64-bit ELF file, least significant byte first. Nothing in the file is believed: what does not lie
// inside of it is not there.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace softtpu {

class ElfFile {
 public:
  // Read as far as it is asked for: of a file that is cut short meanwhile a mapping would end the process.
  ElfFile(int fd, std::uint64_t bytes) : fd_(fd), bytes_(bytes) {}
  explicit ElfFile(std::span<const std::uint8_t> contents) : contents_(contents), bytes_(contents.size()) {}

  // nullopt: it is no ELF file, or shorter.
  std::optional<Elf64_Ehdr> header() const;
  // nullopt: the header has no table of them.
  std::optional<std::vector<Elf64_Shdr>> sections() const;
  std::optional<std::vector<Elf64_Phdr>> segments() const;

  // The items at an offset; empty when they do not lie inside the file.
  template <class T>
  std::vector<T> items(std::uint64_t offset, std::uint64_t bytes) const {
    if (bytes > kMostTableBytes || offset > bytes_ || bytes > bytes_ - offset) return {};
    std::vector<T> list(bytes / sizeof(T));
    if (!read(list.data(), list.size() * sizeof(T), offset)) return {};
    return list;
  }

 private:
  static constexpr std::uint64_t kMostTableBytes = 64U << 20;
  bool read(void* to, std::size_t bytes, std::uint64_t offset) const;

  int fd_ = -1;
  std::span<const std::uint8_t> contents_;
  std::uint64_t bytes_;
};

}  // namespace softtpu
