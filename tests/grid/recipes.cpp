#include "tests/grid/recipes.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <sstream>

namespace softtpu::grid {
namespace {

constexpr std::uint32_t kRuleStep = Places().local_step;  // of the addresses that rules name

int default_type(TypeSet set) {
  for (const Dtype type : {Dtype::kFp32, Dtype::kInt32, Dtype::kInt16, Dtype::kInt8, Dtype::kUint32, Dtype::kUint16}) {
    if (contains(set, type)) return static_cast<int>(type);
  }
  return static_cast<int>(Dtype::kFp32);
}

Value by_default(const Parameter& parameter, std::size_t position, const OpInfo& row, const Chip& chip,
                 const Places& places) {
  if (is_local(parameter)) return number(static_cast<std::int64_t>(position) * places.local_step);
  if (is_system(parameter))
    return number(
        static_cast<std::int64_t>(chip.global_mem.start + chip.global_reserved + position * places.global_step));
  if (is_variable(parameter)) {
    // variable_t: TENSOR; ..._or_addr_t: is_addr.
    const int kind = parameter.type == "const variable_t*" ? 0 : 1;
    return dims({kind, static_cast<int>(position * places.local_step)});
  }
  if (parameter.type == "var_context_t") return dims({static_cast<int>(position * places.local_step)});
  if (parameter.type == "const dim4*" && !is_stride(parameter)) return dims({2, 66, 3, 4});
  if (parameter.type == "const dim4*") {
    Value value;
    value.null = true;
    return value;
  }
  if (parameter.type == "const dim2*") return parameter.name == "kernel" ? dims({2, 2}) : dims({1, 1});
  if (parameter.type == "data_type_t") return number(default_type(row.types));
  if (is_integer(parameter)) return number(20);
  return {};
}

Value parse(const Parameter& parameter, const std::string& text) {
  Value value;
  if (text == "NULL") {
    value.null = true;
    return value;
  }
  if (const auto type = type_codes().find(text); type != type_codes().end()) return number(type->second);
  std::istringstream parts(text);
  std::string part;
  for (std::size_t i = 0; std::getline(parts, part, ','); ++i)
    value.words[i] = static_cast<std::int32_t>(std::stoll(part, nullptr, 0));
  value.real = std::stod(text);
  value.number = parameter.type.ends_with("*") ? 0 : std::stoll(text, nullptr, 0);
  return value;
}

void read_rule(const Rule& rule, const Function& function, const Places& places, std::vector<Value>& values) {
  if (!matches(rule.functions, function.name)) return;
  std::istringstream words(rule.arguments);
  std::string word;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Parameter& parameter = function.parameters[i];
      if (!matches(word.substr(0, equals), parameter.name)) continue;
      values[i] = parse(parameter, word.substr(equals + 1));
      if (is_local(parameter)) values[i].number = values[i].number / kRuleStep * places.local_step;
      // The third word is an address, or a constant.
      auto& third = values[i].words[2];
      if (parameter.type.ends_with("_info_t*") && third >= static_cast<int>(kRuleStep))
        third = third / static_cast<int>(kRuleStep) * static_cast<int>(places.local_step);
    }
  }
}

}  // namespace

Value number(std::int64_t value) {
  Value made;
  made.number = value;
  return made;
}
Value dims(std::initializer_list<int> list) {
  Value made;
  std::copy(list.begin(), list.end(), made.words.begin());
  return made;
}
const std::map<std::string, int>& type_codes() {
  static const std::map<std::string, int> codes = {
      {"FP32", 5},  {"FP16", 3},   {"BFP16", 11}, {"INT8", 1},   {"UINT8", 0},    {"INT16", 7},   {"UINT16", 6},
      {"INT32", 9}, {"UINT32", 8}, {"INT4", 13},  {"UINT4", 12}, {"FP8E5M2", 15}, {"FP8E4M3", 47}};
  return codes;
}

bool matches(const std::string& pattern, std::string_view text) {
  return fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

bool is_local(const Parameter& parameter) { return parameter.type == "local_addr_t"; }
bool is_system(const Parameter& parameter) {
  return parameter.type == "system_addr_t" || parameter.type == "global_addr_t" || parameter.type == "addr_t";
}
bool is_stride(const Parameter& parameter) { return parameter.name.find("stride") != std::string_view::npos; }
bool is_variable(const Parameter& parameter) {
  return parameter.type == "const variable_t*" || parameter.type.ends_with("_or_addr_t*");
}
bool is_integer(const Parameter& parameter) {
  return parameter.type == "int" || parameter.type == "unsigned int" || parameter.type == "u32";
}

std::vector<Value> make_recipe(const Recipes& recipes, const Function& function, const OpInfo& row, const Chip& chip,
                               const Places& places) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < function.parameters.size(); ++i)
    values.push_back(by_default(function.parameters[i], i, row, chip, places));
  for (const Rule& rule : recipes.rules) read_rule(rule, function, places, values);
  return values;
}

const Preparation* find_preparation(const Recipes& recipes, std::string_view function) {
  const auto found = std::find_if(recipes.preparations.begin(), recipes.preparations.end(),
                                  [&](const Preparation& preparation) { return preparation.function == function; });
  return found == recipes.preparations.end() ? nullptr : &*found;
}

}  // namespace softtpu::grid
