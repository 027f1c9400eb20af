// One valid call of every function of a chip that issues commands. Each parameter gets a default by its type and name;
// rules replace what a function needs otherwise.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "device/chip/chip.hpp"
#include "device/isa/op.hpp"
#include "tests/grid/call_table.hpp"

namespace softtpu::grid {

// Arguments of the functions whose names match the pattern ("tpu_bdc_int8_*"): "shape=1,8,4,4 dst_dtype=INT16 len=5".
// Later rules win. Local addresses are those of NPUs of 256 KiB (bm1684: 512 KiB); smaller chips have them nearer.
struct Rule {
  std::string functions, arguments;
};

// What the operands of a function have to hold before it is called with these arguments.
struct Preparation {
  std::string function;
  void (*kernel)(std::span<const Value> values);
  bool same_launch = false;
};

struct Recipes {
  const std::vector<Function>& functions;
  std::vector<Rule> rules;
  std::vector<Preparation> preparations;
};
const Recipes& tpu_recipes();
const Recipes& okk_recipes();

// Where operands lie: each parameter that is an address has its own place.
struct Places {
  std::uint32_t local_step = 0x4000;     // in every NPU
  std::uint64_t global_step = 0x100000;  // in global memory
};

std::vector<Value> make_recipe(const Recipes& recipes, const Function& function, const OpInfo& row, const Chip& chip,
                               const Places& places);
// nullptr: the function takes its operands as they are.
const Preparation* find_preparation(const Recipes& recipes, std::string_view function);

Value number(std::int64_t value);
Value dims(std::initializer_list<int> list);
// The types' numbers by the names that rules use ("FP16").
const std::map<std::string, int>& type_codes();
bool matches(const std::string& pattern, std::string_view text);

bool is_local(const Parameter& parameter);
bool is_system(const Parameter& parameter);
bool is_variable(const Parameter& parameter);
bool is_stride(const Parameter& parameter);
bool is_integer(const Parameter& parameter);

}  // namespace softtpu::grid
