// What kernel modules of this machine look like: the number in their header, system calls in their code, the name of
// the machine in file names of Clang's runtimes.
#pragma once

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace softtpu {

#if defined(__x86_64__)

inline constexpr Elf64_Half kThisMachine = EM_X86_64;
inline constexpr std::string_view kThisMachineOfClang = "x86_64";

// Also where the bytes belong to two instructions: that costs checks, nothing more.
inline bool has_system_call(std::string_view code) {
  constexpr std::array<std::string_view, 3> kCalls = {"\x0F\x05", "\x0F\x34", "\xCD\x80"};
  return std::any_of(kCalls.begin(), kCalls.end(),
                     [code](std::string_view call) { return code.find(call) != std::string_view::npos; });
}

#elif defined(__aarch64__)

inline constexpr Elf64_Half kThisMachine = EM_AARCH64;
inline constexpr std::string_view kThisMachineOfClang = "aarch64";

// `svc` with any number. Instructions are words of four bytes.
inline bool has_system_call(std::string_view code) {
  for (std::size_t i = 0; i + 4 <= code.size(); i += 4) {
    std::uint32_t instruction = 0;
    std::memcpy(&instruction, code.data() + i, sizeof instruction);
    if ((instruction & 0xFFE0001FU) == 0xD4000001U) return true;
  }
  return false;
}

#else
#error "softtpu knows kernel modules of x86-64 and aarch64"
#endif

}  // namespace softtpu
