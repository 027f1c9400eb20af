// Where a launch has failed: the last line of a kernel's error, and the same read again from the text, so that programs
// need not know how it is worded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softtpu {

struct FaultLocation {
  std::string kernel;
  std::uint32_t core = 0;
  std::optional<std::uint64_t> command;  // how many commands the kernel had issued
  std::string file;                      // "add_kernel.c"; empty: not known
  std::uint32_t line = 0;
};

// "\n - While running kernel "add" on core 0, command 17, at add_kernel.c:12"; `site` may be empty.
std::string fault_location_text(std::string_view kernel, std::uint32_t core, std::uint64_t command,
                                std::string_view site);

// From that line, or from what a crash report says; nullopt: the text tells of no launch.
std::optional<FaultLocation> parse_fault_location(const std::string& text);

}  // namespace softtpu
