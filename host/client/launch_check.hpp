// What every interface refuses of a launch before anything of it goes to the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"

#pragma GCC visibility push(default)
namespace softtpu::host {

// `what` is how the interface calls the name: "func_name", "the kernel's name".
Result<void> check_name(std::string_view what, const char* name);

// An argument block. The limits are those of the interface's SDK.
struct ArgumentBlock {
  const void* args = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t most = 0;
  std::uint64_t align = 1;
};
Result<void> check_arguments(const ArgumentBlock& block);
// Of a block that has been checked.
std::vector<std::uint8_t> copy_arguments(const void* args, std::size_t bytes);

// How many times, and on how many workitems.
Result<void> check_counts(std::int64_t groups, std::int64_t blocks);

}  // namespace softtpu::host
#pragma GCC visibility pop
