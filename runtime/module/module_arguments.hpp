// What a kernel's debug information says about the arguments that it reads, for messages about launches that failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softtpu {

struct KernelArguments {
  std::string type;  // "args_t"
  std::uint64_t bytes = 0;
};

// The struct behind the kernel's parameter: the parameter's own type, else that of the first variable of the kernel
// that is such a struct or points to one. `image` is an ELF file. nullopt: no debug information, or it does not say.
std::optional<KernelArguments> find_arguments(int image, const std::string& kernel);

// What a member of the struct holds.
enum class ArgumentKind : std::uint8_t { kSigned, kUnsigned, kFloat, kBool, kEnum, kPointer, kStruct, kUnion };
std::string_view to_text(ArgumentKind kind);

struct ArgumentMember {
  std::string name;  // empty: of a struct or union without one
  std::string type;  // as the source has it: "u64", "unsigned int", "dim4"
  ArgumentKind kind = ArgumentKind::kSigned;
  std::uint64_t offset = 0;             // from the beginning of the struct that it is a member of
  std::uint64_t bytes = 0;              // of one element
  std::vector<std::uint64_t> counts;    // of an array: its dimensions
  std::vector<ArgumentMember> members;  // of a struct or union
};

struct ArgumentLayout {
  std::string type;
  std::uint64_t bytes = 0;
  std::vector<ArgumentMember> members;
};

// The same struct with its members. nullopt also when one of them is not of a kind above (a bit field for example).
std::optional<ArgumentLayout> find_argument_layout(int image, const std::string& kernel);

}  // namespace softtpu
