// What a kernel's debug information says about the arguments that it reads, for messages about launches that failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace softtpu {

struct KernelArguments {
  std::string type;  // "args_t"
  std::uint64_t bytes = 0;
};

// The struct behind the kernel's parameter: the parameter's own type, else that of the first variable of the kernel
// that is such a struct or points to one. `image` is an ELF file. nullopt: no debug information, or it does not say.
std::optional<KernelArguments> find_arguments(int image, const std::string& kernel);

}  // namespace softtpu
