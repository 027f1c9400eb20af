#include "tests/fuzz/kernel_calls.hpp"

#include <algorithm>
#include <array>

#include "device/isa/op_names.hpp"
#include "okk.h"
#include "tests/fuzz/name_keys.hpp"
#include "tpu_kernel.h"

namespace softtpu::fuzz {
namespace {

// They read and write through host pointers with a length beside them, register functions, or write files: what their
// arguments may be is the C language's rule, which nothing can check.
constexpr std::string_view kExcluded[] = {
    "tpu_kernel_memcpy",
    "tpu_kernel_memset",
    "tpu_register_kernel_func",
    "okk_register_kernel_func",
    "tpu_dump_global_layer_data",
    "tpu_print_local_mem_data",
    "__print_trace",
    "tpu_dump_registered_kernel_funcs",
    "okk_dump_registered_kernel_funcs",
    "tpu_any_range_overlapped",
};

std::vector<KernelCall> make_calls() {
  std::vector<KernelCall> calls = {
#define OP(family, name, ...) {#name, Op::name, [](Arguments& arguments) { call(&::name, arguments); }},
#include "device/isa/ops.def"
  };
  std::erase_if(calls, [](const KernelCall& row) {
    return std::find(std::begin(kExcluded), std::end(kExcluded), row.name) != std::end(kExcluded);
  });
  for (KernelCall& row : calls) {
    for (const auto* functions : {&grid::tpu_functions(), &grid::okk_functions()}) {
      const auto found = std::find_if(functions->begin(), functions->end(),
                                      [&](const grid::Function& function) { return function.name == row.name; });
      if (found != functions->end()) row.function = &*found;
    }
  }
  return calls;
}

const grid::Recipes& recipes_of(const KernelCall& row) {
  return info(row.op).api == Api::kOkKernel ? grid::okk_recipes() : grid::tpu_recipes();
}

}  // namespace

std::span<const KernelCall> kernel_calls() {
  static const auto* const calls = new std::vector<KernelCall>(make_calls());  // the figures at the end need it
  return *calls;
}

const KernelCall& find_call(std::uint16_t key) {
  static const NameKeys<KernelCall> keys(kernel_calls());
  return keys.find(key);
}

std::vector<grid::Value> valid_arguments(const KernelCall& row, const Chip& chip) {
  constexpr grid::Places kNear = {0x800, 0x10000};
  return grid::make_recipe(recipes_of(row), *row.function, info(row.op), chip, kNear);
}

const grid::Preparation* find_preparation(const KernelCall& row) {
  return grid::find_preparation(recipes_of(row), row.name);
}

void change_arguments(std::vector<grid::Value>& values, Input& input) {
  for (int left = input.byte() % 4; left > 0 && !values.empty(); --left) {
    grid::Value& value = values[input.byte() % values.size()];
    switch (input.byte() % 10) {
      case 0: value.null = !value.null; break;
      case 1: value.number = static_cast<std::int64_t>(take_number(input)); break;
      case 2: value.number += input.take<std::int8_t>(); break;
      case 3: value.number += input.take<std::int8_t>() * 64; break;
      case 4: value.number = input.byte() % 16; break;  // a type, a mode
      case 5: value.words[input.byte() % 16] = static_cast<std::int32_t>(take_number(input)); break;
      case 6: value.words[input.byte() % 4] += input.take<std::int8_t>(); break;
      case 7:
        value.null = false;
        for (int i = 0; i < 4; ++i) value.words[static_cast<std::size_t>(i)] = 1 + input.byte() % 16;
        break;
      case 8: value.real = input.take<double>(); break;
      default: value = values[input.byte() % values.size()]; break;  // one operand lies on another
    }
  }
}

}  // namespace softtpu::fuzz
