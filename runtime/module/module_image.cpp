#include "runtime/module/module_image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/module/elf_file.hpp"
#include "runtime/module/emulator.hpp"
#include "runtime/module/this_machine.hpp"

namespace softtpu {
namespace {

constexpr std::size_t kPlaceholderBytes = 64;
constexpr std::uint64_t kMaxModuleBytes = 1ULL << 30;
constexpr std::uint64_t kPieceBytes = 64 << 10;

Error file_error(const std::string& name, const std::string& what) {
  return Error{ErrorKind::kUsage, fmt::format("kernel module {}: {}.", name, what)};
}

Error file_errno(const std::string& name) { return file_error(name, std::strerror(errno)); }

Result<UniqueFd> make_anonymous_file() {
  UniqueFd fd(::memfd_create("softtpu-module", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return Error{ErrorKind::kResource, fmt::format("memfd_create: {}", std::strerror(errno))};
  return fd;
}

// The same file is loaded into every core, also into those that come later: no kernel of one may change it. No process
// has it mapped for writing, so later writes are all that there is to forbid; F_SEAL_WRITE would look at every page for
// that, 8 ms for 400 MiB. Systems before Linux 5.1 know nothing else.
Result<UniqueFd> seal(UniqueFd image) {
  for (const int writes : {F_SEAL_FUTURE_WRITE, F_SEAL_WRITE}) {
    if (::fcntl(image.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | writes) == 0) return image;
    if (errno != EINVAL) break;
  }
  return Error{ErrorKind::kResource, fmt::format("sealing a kernel module: {}", std::strerror(errno))};
}

std::string machine_name(Elf64_Half machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "AArch64";
    case EM_ARM: return "ARM";
    case EM_RISCV: return "RISC-V";
    case EM_386: return "x86 (32 bit)";
    default: return fmt::format("machine {}", machine);
  }
}

bool read_at(int fd, void* to, std::size_t bytes, std::uint64_t offset) {
  return ::pread(fd, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The loader maps segments without looking at the file's length and would be killed by SIGBUS on a truncated file.
Result<void> check_segments(int fd, std::uint64_t file_bytes, const std::string& name) {
  const auto segments = ElfFile(fd, file_bytes).segments();
  if (!segments) return file_error(name, "the table of its segments is damaged");
  bool dynamic = false;
  for (const Elf64_Phdr& segment : *segments) {
    dynamic = dynamic || segment.p_type == PT_DYNAMIC;
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
    if (segment.p_offset > file_bytes || segment.p_filesz > file_bytes - segment.p_offset) {
      return file_error(name, fmt::format("it is truncated (a segment ends at byte {}, the file at {})",
                                          segment.p_offset + segment.p_filesz, file_bytes));
    }
  }
  if (!dynamic) return file_error(name, "it has no dynamic section, so it is not a shared object");
  return {};
}

}  // namespace

Result<ModuleCopy> ModuleCopy::of_file(UniqueFd file, const std::string& name) {
  ModuleCopy made;
  made.name_ = name;
  made.file_ = std::move(file);
  struct stat status {};
  if (::fstat(made.file_.get(), &status) != 0) return file_errno(name);
  if (!S_ISREG(status.st_mode)) return file_error(name, "it is not a regular file");
  made.bytes_ = static_cast<std::uint64_t>(status.st_size);
  if (made.bytes_ > kMaxModuleBytes)
    return file_error(name, fmt::format("it has {} bytes (limit {})", made.bytes_, kMaxModuleBytes));
  auto copy = make_anonymous_file();
  if (!copy) return copy.error();
  made.copy_ = *std::move(copy);
  return made;
}

Result<ModuleCopy> ModuleCopy::of_bytes() {
  auto copy = make_anonymous_file();
  if (!copy) return copy.error();
  ModuleCopy made;
  made.copy_ = *std::move(copy);
  return made;
}

Result<bool> ModuleCopy::step() {
  const std::uint64_t piece = std::min(kPieceBytes, bytes_ - done_);
  auto offset = static_cast<off_t>(done_);
  const ssize_t moved = piece > 0 ? ::sendfile(copy_.get(), file_.get(), &offset, piece) : 0;
  if (moved < 0 && errno == EINTR) return false;
  if (moved < 0) return file_errno(name_);
  done_ += static_cast<std::uint64_t>(moved);
  // Shorter than it was: the check of the segments reports it.
  return moved == 0 || done_ == bytes_;
}

Result<void> ModuleCopy::add(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(copy_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      return Error{ErrorKind::kResource, fmt::format("copying a kernel module: {}", std::strerror(errno))};
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<UniqueFd> ModuleCopy::take() { return seal(std::move(copy_)); }

Result<UniqueFd> copy_module_bytes(std::span<const std::uint8_t> image) {
  auto copy = ModuleCopy::of_bytes();
  if (!copy) return copy.error();
  if (auto added = copy->add(image); !added) return added.error();
  return copy->take();
}

Result<Bytes> read_module(int fd, const std::string& name, std::size_t limit) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return file_errno(name);
  if (!S_ISREG(status.st_mode)) return file_error(name, "it is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > limit)
    return file_error(name, fmt::format("it has {} bytes (limit for a remote device {})", bytes, limit));
  Bytes image(bytes);
  if (!read_at(fd, image.data(), image.size(), 0)) return file_errno(name);
  return image;
}

bool is_placeholder(std::span<const std::uint8_t> image) {
  return image.size() <= kPlaceholderBytes &&
         std::all_of(image.begin(), image.end(), [](std::uint8_t byte) { return byte == 0; });
}

Result<bool> is_placeholder_file(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return Error{ErrorKind::kUsage, fmt::format("a kernel module's descriptor: {}", std::strerror(errno))};
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes == 0 || bytes > kPlaceholderBytes) return false;
  std::vector<std::uint8_t> image(bytes);
  return read_at(fd, image.data(), image.size(), 0) && is_placeholder(image);
}

Result<void> check_module(int fd, const std::string& name) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return file_errno(name);
  if (!S_ISREG(status.st_mode)) return file_error(name, "it is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  Elf64_Ehdr header{};
  const std::size_t readable = std::min<std::uint64_t>(bytes, sizeof(header));
  if (!read_at(fd, &header, readable, 0)) return file_errno(name);
  if (readable < SELFMAG || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return file_error(name, fmt::format("it is not an ELF file ({} bytes)", bytes));
  }
  if (readable < sizeof(header)) return file_error(name, fmt::format("it is truncated ({} bytes)", bytes));
  // In a 32-bit file e_type and e_machine are at the same place.
  const bool fits = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                    header.e_machine == kThisMachine;
  const bool emulated = !fits && is_for_emulated_processor(&header, sizeof header);
  const Result<Emulator> emulator = emulated ? find_emulator() : Error{ErrorKind::kUsage, {}};
  if (!fits && !emulator) {
    return file_error(name, fmt::format("it is built for {}, this machine is {}{}{}", machine_name(header.e_machine),
                                        machine_name(kThisMachine), emulated ? "; " : "", emulator.error().text));
  }
  if (header.e_type != ET_DYN) {
    return file_error(name, header.e_type == ET_REL ? "it is an object file (.o), not a shared object (.so)"
                                                    : "it is not a shared object");
  }
  return check_segments(fd, bytes, name);
}

std::optional<std::string> find_default_module(const std::string& firmware_path) {
  if (!firmware_path.empty()) return firmware_path;
  // The loader's own list: LD_LIBRARY_PATH, the program's run paths, the system's folders.
  const std::unique_ptr<void, int (*)(void*)> program(::dlopen(nullptr, RTLD_NOW), ::dlclose);
  Dl_serinfo size{};
  if (program == nullptr || ::dlinfo(program.get(), RTLD_DI_SERINFOSIZE, &size) != 0) return std::nullopt;
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* list = reinterpret_cast<Dl_serinfo*>(memory.data());
  *list = size;
  if (::dlinfo(program.get(), RTLD_DI_SERINFO, list) != 0) return std::nullopt;
  for (unsigned i = 0; i < list->dls_cnt; ++i) {
    const std::string path = std::string(list->dls_serpath[i].dls_name) + "/libcmodel.so";
    if (::access(path.c_str(), R_OK) == 0) return path;
  }
  return std::nullopt;
}

}  // namespace softtpu
