// One row per function that kernels call: its name, a call of it with any arguments made from fuzz bytes, and nearly
// valid calls: those of the grid's recipes with some changes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/fuzz/input.hpp"
#include "tests/grid/recipes.hpp"

namespace softtpu::fuzz {

// Makes arguments of any type, and owns what their pointers point to: it lives outside the launch, which a fault may
// leave by a jump.
class Arguments {
 public:
  explicit Arguments(Input& input) : input_(input) {}

  template <class T>
  T make() {
    if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
      return nullptr;
    } else if constexpr (std::is_pointer_v<T>) {
      return static_cast<T>(make_pointer<std::remove_cv_t<std::remove_pointer_t<T>>>());
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      return static_cast<T>(take_number(input_));
    } else {
      T value{};
      fill(&value, sizeof value);
      return value;
    }
  }

 private:
  void fill(void* at, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += sizeof(std::uint32_t)) {
      // Mostly what shapes and strides hold.
      const std::uint8_t kind = input_.byte();
      const auto word = static_cast<std::uint32_t>(kind % 8 != 0 ? 1 + kind / 8 % 8 : take_number(input_));
      std::memcpy(static_cast<std::uint8_t*>(at) + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
    }
  }
  template <class T>
  void* make_pointer() {
    if (input_.byte() % 4 == 0) return nullptr;
    // A structure is one object of exactly its size; single values are arrays of kArray, as long as any function reads.
    constexpr std::size_t kArray = 64;
    std::size_t bytes = kArray;
    if constexpr (std::is_class_v<T>) {
      bytes = sizeof(T);
    } else if constexpr (!std::is_void_v<T>) {
      bytes = kArray * sizeof(T);
    }
    objects_.emplace_back(new std::uint8_t[bytes]());
    fill(objects_.back().get(), bytes < kArray ? bytes : kArray);
    return objects_.back().get();
  }

  Input& input_;
  std::vector<std::unique_ptr<std::uint8_t[]>> objects_;
};

template <class R, class... P>
void call(R (*function)(P...), Arguments& arguments) {
  // Braces: the arguments are made from left to right.
  const std::tuple<P...> made{arguments.make<P>()...};
  static_cast<void>(std::apply(function, made));
}

struct KernelCall {
  std::string_view name;
  Op op;
  void (*call)(Arguments&);
  const grid::Function* function = nullptr;  // with the parameters' names, as the header states them
};

// All functions of the table but those that work on the kernel's own memory, files or process (kernel_calls.cpp says
// which).
std::span<const KernelCall> kernel_calls();
// By a key (name_keys.hpp).
const KernelCall& find_call(std::uint16_t key);

// The recipe's arguments for this chip.
std::vector<grid::Value> valid_arguments(const KernelCall& row, const Chip& chip);
const grid::Preparation* find_preparation(const KernelCall& row);
// Changes as many arguments as the input says, perhaps none.
void change_arguments(std::vector<grid::Value>& values, Input& input);

}  // namespace softtpu::fuzz
