#include "tests/pairs/drawn_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "device/chip/layout.hpp"
#include "device/chip/limits.hpp"

namespace softtpu::pairs {
namespace {

using grid::Parameter;
using grid::Value;

// As in the recipes: what lies at one address after the other.
constexpr grid::Places kPlaces{0x800, 0x10000};

class Draw {
 public:
  Draw(const Chip& chip, std::uint64_t seed) : chip_(chip), random_(seed) {
    start_npu_ = below(3) == 0 ? below(chip.npu_num) : 0;
    // Few extents are large, so that operands stay near their places.
    const std::array<int, 8> channels{
        1, 2, 3, 5, chip.npu_num - 1, chip.npu_num, chip.npu_num + 1, 2 * chip.npu_num + 3};
    shape_ = {1 + below(3), channels[static_cast<std::size_t>(below(8))], 1 + below(6), 1 + below(9)};
  }

  void change(const OpInfo& row, const Parameter& parameter, Value& value) {
    if (grid::is_local(parameter)) return local(parameter, value);
    if (grid::is_system(parameter)) return system(value);
    if (parameter.type == "const dim4*") return grid::is_stride(parameter) ? stride(value) : shape(parameter, value);
    if (parameter.type == "data_type_t") return type(row, value);
    if (parameter.type == "rounding_mode_t") return pick_number(value, 7);
    if (parameter.type == "bool") return pick_number(value, 2);
    if (parameter.type == "scalar_t" || parameter.type == "var_context_t") return constant(value);
    if (parameter.type == "float") return real(value);
    if (parameter.type == "const dim2*" || parameter.type == "const padding_t*") return small(value);
    number(row, parameter, value);
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }
  bool chance(int in) { return below(in) == 0; }

  void local(const Parameter& parameter, Value& value) {
    const bool table = parameter.name.find("coeff") != std::string_view::npos ||
                       parameter.name.find("table") != std::string_view::npos;
    if (!table && !chance(16)) value.number += std::int64_t{start_npu_} * chip_.local_bytes;
    if (chance(3)) value.number += std::int64_t{below(4)} * chip_.eu_bytes;
    if (chance(12)) value.number += below(8);
    if (chance(24)) value.number = std::int64_t{start_npu_} * chip_.local_bytes;  // on another operand
  }
  void system(Value& value) {
    if (chance(4)) value.number += below(64);
  }
  void shape(const Parameter&, Value& value) {
    if (value.null || chance(4)) return;
    const std::array<int, 4> drawn{shape_.n, shape_.c, shape_.h, shape_.w};
    // Functions that need a part of their recipe's shape keep it now and then.
    for (std::size_t i = 0; i < drawn.size(); ++i)
      if (!chance(3)) value.words[i] = drawn[i];
  }
  void stride(Value& value) {
    if (chance(2)) return;
    value.null = false;
    const int w = 1 + (chance(4) ? 1 : 0), h = shape_.w * w + below(3), c = shape_.h * h + below(3);
    const int groups = shape_.c / chip_.npu_num + 2;
    const std::array<int, 4> steps{c * groups, c, h, w};
    for (std::size_t i = 0; i < steps.size(); ++i) value.words[i] = chance(12) ? 0 : steps[i];
  }
  void type(const OpInfo& row, Value& value) {
    if (chance(2)) return;
    if (is_integer(value.number) && chance(4)) {
      value.number ^= 1;  // of the other sign
      return;
    }
    const TypeSet allowed = chance(4) || row.types == kNoTypes ? kAllTypes : row.types;
    // One type for all, more often than not.
    const int code = chance(3) ? below(14) : static_cast<int>(drawn_type_(allowed, random_));
    if (contains(allowed | kFp8s, static_cast<Dtype>(code))) value.number = code;
  }
  static bool is_integer(std::int64_t code) { return contains(kInts8 | kInts16 | kInts32, static_cast<Dtype>(code)); }
  void pick_number(Value& value, int count) {
    if (!chance(3)) value.number = below(count);
  }
  void constant(Value& value) {
    constexpr std::uint32_t kSpecial[] = {0,          0x80000000, 0x3F800000, 0x7F800000, 0xFF800000, 0x7FC00001,
                                          0x00000001, 0x807FFFFF, 0xFFFFFFFF, 0x7FFFFFFF, 0x3C00,     0x7C00};
    if (chance(2)) return;
    value.words[0] = static_cast<std::int32_t>(chance(2) ? static_cast<std::uint32_t>(random_())
                                                         : kSpecial[below(static_cast<int>(std::size(kSpecial)))]);
  }
  void real(Value& value) {
    if (!chance(3)) value.real = (below(2001) - 1000) / 64.0;
  }
  void small(Value& value) {
    if (value.null || chance(2)) return;
    for (std::size_t i = 0; i < 4; ++i) value.words[i] = std::max(0, value.words[i] + below(3) - 1);
  }
  void number(const OpInfo& row, const Parameter& parameter, Value& value) {
    if (chance(2) || parameter.type.ends_with("*")) return;
    for (const Limit& limit : limits_of(row.limits)) {
      if (limit.argument != parameter.name || !limit.fixed) continue;
      const std::int64_t span = std::min<std::int64_t>(limit.high.number - limit.low.number, 200) + 1;
      value.number = limit.low.number + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(span));
      return;
    }
    if (parameter.type == "char" || parameter.type == "unsigned char") {
      value.number = below(40) - (parameter.type == "char" ? 20 : 0);
    } else {
      value.number = std::max<std::int64_t>(0, value.number + below(5) - 2);
    }
  }
  // One draw for a call, so that the types of operands often agree.
  Dtype drawn_type_(TypeSet allowed, std::mt19937_64&) {
    std::vector<Dtype> list;
    for (int code = 0; code < 64; ++code)
      if (contains(allowed, static_cast<Dtype>(code))) list.push_back(static_cast<Dtype>(code));
    if (list.empty()) return Dtype::kFp32;
    if (!common_) common_ = static_cast<unsigned>(random_());
    return list[*common_ % list.size()];
  }

  const Chip& chip_;
  std::mt19937_64 random_;
  int start_npu_ = 0;
  Dim4 shape_;
  std::optional<unsigned> common_;
};

std::string value_text(const Parameter& parameter, const Value& value) {
  if (value.null) return "NULL";
  if (parameter.type == "float") return fmt::format("{}", value.real);
  if (parameter.type.ends_with("*") || parameter.type == "scalar_t" || parameter.type == "var_context_t")
    return fmt::format("{{{}, {}, {}, {}}}", value.words[0], value.words[1], value.words[2], value.words[3]);
  if (grid::is_local(parameter) || grid::is_system(parameter)) return fmt::format("0x{:x}", value.number);
  return fmt::format("{}", value.number);
}

}  // namespace

std::vector<Candidate> candidates(const Chip& chip) {
  std::vector<Candidate> list;
  const grid::Recipes& recipes = chip.api == Api::kOkKernel ? grid::okk_recipes() : grid::tpu_recipes();
  for (const grid::Function& function : recipes.functions) {
    const std::optional<Op> op = find_op(function.name);
    if (!op) continue;
    const OpInfo& row = info(*op);
    const bool issues = row.support == Support::kCommand || row.support == Support::kComposite;
    const bool engine = row.engine == Engine::kBdc || row.engine == Engine::kGdma || row.engine == Engine::kHau ||
                        row.engine == Engine::kSdma;
    if (issues && engine && row.api == chip.api && !function.parameters.empty())
      list.push_back({&function, &row, &recipes});
  }
  return list;
}

DrawnCall draw(const std::vector<Candidate>& from, const Chip& chip, std::uint64_t seed, std::uint64_t number) {
  // Each seed begins with another function, so that few calls of many seeds reach all.
  const Candidate& of = from[(seed * 131 + number) % from.size()];
  DrawnCall call{of, grid::make_recipe(*of.recipes, *of.function, *of.row, chip, kPlaces), {}};
  call.values = call.valid;
  Draw drawing(chip, seed * 0x9E3779B97F4A7C15U + number);
  for (std::size_t i = 0; i < call.values.size(); ++i)
    drawing.change(*of.row, of.function->parameters[i], call.values[i]);
  return call;
}

std::string to_text(const DrawnCall& call) {
  std::string text(call.of.function->name);
  for (std::size_t i = 0; i < call.values.size(); ++i) {
    const Parameter& parameter = call.of.function->parameters[i];
    text += fmt::format("{}{}={}", i == 0 ? "(" : ", ", parameter.name, value_text(parameter, call.values[i]));
  }
  return text + ")";
}

}  // namespace softtpu::pairs
