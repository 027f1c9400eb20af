#include "runtime/module/emulator.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>

#include "runtime/module/elf_file.hpp"
#include "runtime/module/this_machine.hpp"

namespace softtpu {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) { return ::access(path.c_str(), X_OK) == 0; }

std::string find_program(const char* name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty() && is_program(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  }
  return {};
}

// Beside this library, in the build tree and in an installed one.
std::string find_starter() {
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&find_starter), &here) == 0 || here.dli_fname == nullptr) return {};
  std::error_code failed;
  const fs::path folder = fs::canonical(here.dli_fname, failed).parent_path();
  if (failed) return {};
  for (const fs::path& place : {folder, folder.parent_path() / "lib"}) {
    if (is_program(place / "softtpu_aarch64_modules")) return (place / "softtpu_aarch64_modules").string();
  }
  return {};
}

}  // namespace

namespace {

bool is_emulated(const std::optional<Elf64_Ehdr>& header) {
  return kThisMachine != EM_AARCH64 && header && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == EM_AARCH64;
}

}  // namespace

bool is_for_emulated_processor(const void* bytes, std::size_t count) {
  return is_emulated(ElfFile({static_cast<const std::uint8_t*>(bytes), count}).header());
}

bool is_for_emulated_processor(int image) { return is_emulated(ElfFile(image, sizeof(Elf64_Ehdr)).header()); }

Result<Emulator> find_emulator() {
  const auto missing = [](std::string what) { return Error{ErrorKind::kUnsupported, std::move(what)}; };
  Emulator found;
  found.starter = find_starter();
  if (found.starter.empty())
    return missing(
        "this softtpu was built without g++-aarch64-linux-gnu, so that it cannot run code for the chip's processor");
  for (const char* name : {"qemu-aarch64", "qemu-aarch64-static"}) {
    if (found.qemu.empty()) found.qemu = find_program(name);
  }
  if (found.qemu.empty()) return missing("code for the chip's processor needs qemu-aarch64 (Debian: qemu-user)");
  for (const char* folder : {"/usr/aarch64-linux-gnu", "/"}) {
    if (found.system.empty() && ::access((fs::path(folder) / "lib/ld-linux-aarch64.so.1").c_str(), R_OK) == 0)
      found.system = folder;
  }
  if (found.system.empty())
    return missing("code for the chip's processor needs its C library (Debian: libc6-arm64-cross)");
  return found;
}

EmulatedModuleMaker& emulated_module_maker() {
  static EmulatedModuleMaker maker = nullptr;
  return maker;
}

}  // namespace softtpu
