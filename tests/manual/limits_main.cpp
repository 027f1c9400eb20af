// What each function accepts, as JSON. The ranges of arguments that are numbers come from the function's row. The rest
// is asked from the rules themselves: starting from the valid call of the grid, arguments are changed one at a time and
// types all together. The ranges of the row are asked too, at both ends, so that the two cannot part.
// docs/reference/limits.json is that output. scripts/reference/limits.py compares or rewrites it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "device/chip/limits.hpp"
#include "device/core/execution.hpp"
#include "device/timing/command_cost.hpp"
#include "tests/grid/recipes.hpp"
#include "tests/manual/type_boxes.hpp"
#include "tests/unit/device_fixture.hpp"

namespace softtpu::manual {
namespace {

using grid::Function;
using grid::Parameter;
using grid::Value;
using nlohmann::json;

constexpr std::size_t kMostTypeParameters = 4;

// Whether its rules look at values in memory, or the kernel gets one.
bool needs_values_of(const Command& command) {
  if (std::holds_alternative<DmaMaskSelectCmd>(command) || std::holds_alternative<DmaNonzeroCmd>(command)) return true;
  return std::visit(
      [](const auto& cmd) {
        if constexpr (requires { cmd.rules_read_memory(); }) return static_cast<bool>(cmd.rules_read_memory());
        return false;
      },
      command);
}

// Adds up what the commands of a launch cost on the chip.
class CostSum : public Observer {
 public:
  explicit CostSum(const Chip& chip) {
    auto model = CostModel::make(chip, TimingPreset::kFull);
    if (model) model_ = std::move(*model);
  }
  void before(Op op, const Command& command) override {
    needs_values = needs_values || needs_values_of(command);
    if (model_ == nullptr || std::holds_alternative<ControlCmd>(command)) return;
    const CommandCost cost = model_->cost(op, command);
    start_us += cost.start_us;
    work_us += cost.work_us;
    ++commands;
  }
  double start_us = 0, work_us = 0;
  int commands = 0;
  bool needs_values = false;

 private:
  std::unique_ptr<CostModel> model_;
};

// Rules alone are asked: nothing is computed where they do not look at values. Half of the time.
void compute(bool wanted) {
  Settings settings;
  settings.time = wanted ? "" : "only-silent";
  EXPECT_TRUE(choose_execution(settings));
}

bool is_type(const Parameter& parameter) { return parameter.type == "data_type_t"; }
bool is_bias(const Parameter& parameter) { return parameter.name == "bias_addr" || parameter.name == "bias_dtype"; }

class Limits {
 public:
  Limits(const char* chip, const grid::Recipes& recipes)
      : recipes_(recipes), chip_(chip), device_(chip), cost_(std::make_shared<CostSum>(device_.chip())) {
    device_.core().add_observer(cost_);
    for (const Function& function : recipes.functions) known_[function.name] = &function;
  }

  void add_to(json& all) {
    for (const OpInfo& row : all_ops()) {
      if (!is_of_this_interface(row)) continue;
      // What the chip lacks is unsupported there, whichever other chip has it.
      const bool lacks = !device_.chip().has_part(part_for(row));
      const Engine engine = lacks ? Engine::kNone : row.engine;
      json entry = {{"engine", to_text(engine)},
                    {"support", lacks ? "unsupported" : support(row)},
                    {"chip", chip_},
                    {"chips", json::array()}};
      if (!row.note.empty()) entry[row.support == Support::kUndetermined ? "undetermined" : "lacks"] = row.note;
      const auto found = known_.find(row.name);
      const bool issues = engine != Engine::kNone && engine != Engine::kControl;
      if (!lacks && !is_refused(row.support) && issues && found != known_.end()) probe(*found->second, row, entry);
      if (has(row)) entry["chips"].push_back(chip_);
      all[std::string(row.name)] = std::move(entry);
    }
  }

  // How often the rules answered otherwise than the rows say.
  int contradictions() const { return contradictions_; }

  // Of a further chip: that it has the function, and what the rules answer there otherwise than on the chip `base`,
  // which was asked before.
  void add_differences_to(json& all, const std::string& base) {
    for (const OpInfo& row : all_ops()) {
      if (!is_of_this_interface(row) || !has(row)) continue;
      json& entry = all[std::string(row.name)];
      entry["chips"].push_back(chip_);
      if (entry.contains("lacks")) entry["on"][chip_]["engine"] = to_text(row.engine);
      const auto found = known_.find(row.name);
      if (row.engine == Engine::kNone || row.engine == Engine::kControl || found == known_.end()) continue;
      json answers;
      probe(*found->second, row, answers);
      json& known = answers_[chip_][std::string(row.name)];
      known = answers;
      json before = base.empty() ? entry : answers_[base][std::string(row.name)];
      if (before.is_null()) before = json::object();
      if (answers.is_null()) {
        entry["on"][chip_]["not_asked"] = refusal_;
        continue;
      }
      if (answers.contains("types") && answers["types"] != before.value("types", json()))
        entry["types_on"][chip_] = answers["types"];
      if (json differing = differences(before, answers); !differing.is_null()) entry["on"][chip_].update(differing);
    }
  }

 private:
  // The parameters, costs and messages of one chip that are not those of the first.
  static json differences(const json& first, const json& other) {
    json differing;
    const json none = json::object();
    const json& known = first.contains("parameters") ? first["parameters"] : none;
    for (const auto& [name, limits] : (other.contains("parameters") ? other["parameters"] : none).items()) {
      if (!known.contains(name) || known[name] != limits) differing["parameters"][name] = limits;
    }
    for (const char* what : {"cost", "messages"}) {
      if (other.contains(what) && first.value(what, json()) != other[what]) differing[what] = other[what];
    }
    return differing;
  }

  static const char* support(const OpInfo& row) {
    switch (row.support) {
      case Support::kCommand: return "command";
      case Support::kComposite: return "composite";
      case Support::kQuery: return "query";
      case Support::kUnsupported: return "unsupported";
      case Support::kUndetermined: return "undetermined";
    }
    return "";
  }

  // "" when the call is accepted, else the first line of the message without the function's name.
  std::string ask(std::vector<Value> values) {
    const LaunchOutcome outcome = device_.run([&] { function_->call(values); });
    if (outcome.ok) return {};
    std::string text = outcome.text.substr(0, outcome.text.find('\n'));
    const std::string name = std::string(function_->name) + ": ";
    return text.starts_with(name) ? text.substr(name.size()) : text;
  }
  std::string ask_with(std::size_t at, const Value& value) {
    std::vector<Value> values = valid_;
    values[at] = value;
    return ask(std::move(values));
  }
  const Parameter& parameter(std::size_t at) const { return function_->parameters[at]; }

  bool is_of_this_interface(const OpInfo& row) const { return row.api == device_.chip().api; }
  // Whether the chip does not refuse every call.
  bool has(const OpInfo& row) const {
    return !is_refused(row.support) && device_.chip().has_part(part_for(row)) &&
           !device_.chip().refused.contains(std::string(row.name));
  }

  // Whether the grid's valid call of the function is accepted; it is what the questions start from.
  bool prepare(const Function& function, const OpInfo& row) {
    function_ = &function;
    row_ = &row;
    valid_ = make_recipe(recipes_, function, row, device_.chip(), grid::Places());
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (is_type(parameter(at))) valid_[at] = number_here(static_cast<int>(valid_[at].number));
    }
    compute(true);
    std::memset(device_.local<std::uint8_t>(0, 0), 0, device_.chip().local_mem.bytes);
    if (const grid::Preparation* preparation = find_preparation(recipes_, function.name))
      device_.run([&] { preparation->kernel(valid_); });
    messages_.clear();
    refusal_ = ask_observed();
    if (!refusal_.empty() && choose_types()) refusal_ = ask_observed();
    compute(cost_->needs_values);
    return refusal_.empty();
  }

  // Only the valid call is looked at; an observed launch costs more (its stack is painted).
  std::string ask_observed() {
    cost_->start_us = cost_->work_us = 0;
    cost_->commands = 0;
    cost_->needs_values = false;
    device_.core().observe(true);
    std::string refusal = ask(valid_);
    device_.core().observe(false);
    return refusal;
  }

  // Changes the types of the valid call, which the chip refuses, to some that it takes: one of them, or all that are
  // the same.
  bool choose_types() {
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (!is_type(parameter(at))) continue;
      for (const int code : types_here()) {
        std::vector<Value> one = valid_, all = valid_;
        one[at] = number_here(code);
        for (std::size_t other = 0; other < all.size(); ++other) {
          if (is_type(parameter(other)) && all[other].number == valid_[at].number) all[other] = number_here(code);
        }
        for (const std::vector<Value>& tried : {one, all}) {
          if (!ask(tried).empty()) continue;
          valid_ = tried;
          return true;
        }
      }
    }
    return false;
  }

  // The types that the chip has, in the order of their names.
  std::vector<int> types_here() const {
    const TypeSet here = kAllTypes | types(Dtype::kInt4, Dtype::kUint4) | device_.chip().extra_types;
    std::vector<int> codes;
    for (const auto& [name, code] : grid::type_codes()) {
      if (contains(here, static_cast<Dtype>(code))) codes.push_back(code);
    }
    return codes;
  }

  // A data type by the number that the chip gives it.
  Value number_here(int code) const {
    return grid::number(device_.chip().type_numbers.number_of(static_cast<Dtype>(code)));
  }

  void probe(const Function& function, const OpInfo& row, json& entry) {
    if (!prepare(function, row)) return;
    entry["cost"] = {
        {"start_us", rounded(cost_->start_us)}, {"work_us", rounded(cost_->work_us)}, {"commands", cost_->commands}};
    probe_types(entry);
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (!is_bias(parameter(at))) probe_parameter(at, entry);
    }
    probe_bias(entry);
    for (const Limit& limit : limits_of(row.limits)) add_limit(limit, entry);
    for (const auto& [kind, text] : messages_) entry["messages"].push_back(text);
  }

  static double rounded(double us) { return std::round(us * 1000) / 1000; }

  void probe_types(json& entry) {
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (is_type(parameter(at)) && !(has_optional_bias() && is_bias(parameter(at)))) places.push_back(at);
    }
    if (places.empty() || places.size() > kMostTypeParameters) return;
    std::set<Combination> accepted;
    std::vector<Value> values = valid_;
    add_combinations(places, 0, values, {}, accepted);
    json boxes = json::array();
    for (const Box& box : to_boxes(accepted)) {
      json one;
      for (std::size_t i = 0; i < places.size(); ++i) {
        json names = json::array();
        for (const int code : box[i]) names.push_back(to_text(static_cast<Dtype>(code)));
        one[std::string(parameter(places[i]).name)] = names;
      }
      boxes.push_back(one);
    }
    entry["types"] = boxes;
  }

  void add_combinations(const std::vector<std::size_t>& places, std::size_t next, std::vector<Value>& values,
                        const Combination& chosen, std::set<Combination>& accepted) {
    if (next == places.size()) {
      const std::string answer = ask(values);
      if (answer.empty()) {
        accepted.insert(chosen);
      } else {
        keep("data type", answer);
      }
      return;
    }
    for (const int code : types_here()) {
      values[places[next]] = number_here(code);
      Combination longer = chosen;
      longer.push_back(code);
      add_combinations(places, next + 1, values, longer, accepted);
    }
  }

  bool has_optional_bias() const {
    return std::ranges::any_of(function_->parameters, [](const Parameter& one) { return one.name == "has_bias"; });
  }

  // A bias that has_bias switches on is asked about with it.
  void probe_bias(json& entry) {
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (parameter(at).name == "has_bias") valid_[at] = grid::number(1);
    }
    if (!ask(valid_).empty()) return;
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (is_bias(parameter(at))) probe_parameter(at, entry);
    }
  }

  void probe_bias_types(std::size_t at, json& limits) {
    for (const int code : types_here()) {
      if (ask_with(at, number_here(code)).empty()) limits["types"].push_back(to_text(static_cast<Dtype>(code)));
    }
  }

  void probe_parameter(std::size_t at, json& entry) {
    const std::string name(parameter(at).name);
    json& limits = entry["parameters"][name];
    if (grid::is_local(parameter(at)) || grid::is_system(parameter(at))) probe_address(at, limits);
    if (name == "bias_dtype" && has_optional_bias()) probe_bias_types(at, limits);
    if (parameter(at).type.ends_with("*")) probe_pointer(at, limits);
    if (grid::is_integer(parameter(at))) {
      for (const std::int64_t value : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{INT_MAX}})
        note(ask_with(at, grid::number(value)), at, limits);
    }
    if (limits.is_null()) entry["parameters"].erase(name);
  }

  void probe_address(std::size_t at, json& limits) {
    const std::int64_t address = valid_[at].number;
    std::int64_t step = 1;
    std::string refusal;
    for (; step <= 128; step *= 2) {
      const std::string answer = ask_with(at, grid::number(address + step));
      if (answer.find("multiple") == std::string::npos) break;
      if (refusal.empty()) refusal = answer;
    }
    if (step > 1) limits["multiple_of"] = step;
    if (!refusal.empty()) keep("alignment", refusal);
    if (step > 1) probe_strided(at, limits, step);
    if (!grid::is_local(parameter(at))) return;
    const std::string other = ask_with(at, grid::number(address + device_.chip().local_bytes));
    limits["npu"] = other.empty() ? "any" : npu_rule(other);
    if (!other.empty()) keep("start NPU", other);
    const std::string beyond =
        ask_with(at, grid::number(std::int64_t{device_.chip().local_bytes} - device_.chip().eu_bytes));
    if (beyond.find("ends at offset") != std::string::npos) keep("local memory", beyond);
    probe_in_place(at, limits);
  }

  static std::string npu_rule(const std::string& text) {
    std::smatch match;
    static const std::regex same("start NPU of .* differs from start NPU of (\\w+)");
    if (std::regex_search(text, match, same)) return "that of " + match[1].str();
    if (text.find("NPU 0") != std::string::npos || text.find("is not 0") != std::string::npos) return "0";
    return "";
  }

  // The same with strides given for every operand.
  void probe_strided(std::size_t at, json& limits, std::int64_t step) {
    std::vector<Value> strided = valid_;
    bool any = false;
    for (std::size_t i = 0; i < strided.size(); ++i) {
      if (!grid::is_stride(parameter(i)) || parameter(i).type != "const dim4*" || !strided[i].null) continue;
      strided[i] = grid::dims({1024, 256, 32, 1});
      any = true;
    }
    if (!any || !ask(strided).empty()) return;
    for (std::int64_t smaller = 1; smaller < step; smaller *= 2) {
      strided[at] = grid::number(valid_[at].number + smaller);
      if (ask(strided).find("multiple") != std::string::npos) continue;
      limits["multiple_of_with_strides"] = smaller;
      return;
    }
  }

  void probe_in_place(std::size_t at, json& limits) {
    if (parameter(at).name.find("src") == std::string_view::npos) return;
    for (std::size_t i = 0; i < at; ++i) {
      if (!parameter(i).name.starts_with("dst") || parameter(i).type != parameter(at).type) continue;
      const std::string answer = ask_with(at, valid_[i]);
      limits["in_place"] = answer.empty();
      if (!answer.empty()) keep("overlap", answer);
      return;
    }
  }

  void probe_pointer(std::size_t at, json& limits) {
    Value null;
    null.null = true;
    limits["null"] = valid_[at].null || ask_with(at, null).empty();
    const bool stride = grid::is_stride(parameter(at));
    if (stride && parameter(at).type == "const dim4*" && !parameter(at).name.starts_with("dst")) {
      const std::string answer = ask_with(at, grid::dims({1024, 256, 32, 0}));
      if (answer.empty() || answer.find("stride") != std::string::npos) limits["zero_w_stride"] = answer.empty();
    }
    const bool dim2 = parameter(at).type == "const dim2*";
    const bool window = dim2 || parameter(at).type == "const padding_t*" || parameter(at).type == "const Padding*";
    if ((parameter(at).type != "const dim4*" && !window) || (stride && !dim2)) return;
    for (std::size_t i = 0; i < (dim2 ? 2U : 4U); ++i) {
      for (const int value : {0, -1, INT_MAX}) {
        Value changed = valid_[at];
        changed.words[i] = value;
        note(ask_with(at, changed), at, limits);
      }
    }
  }

  // What a message says of a range.
  struct Told {
    std::string what;
    std::int64_t low = 0, high = 0;
  };
  static std::optional<Told> told_in(const std::string& text) {
    static const std::regex range("^(.*) \\((-?\\d+)\\) is outside (-?\\d+)\\.\\.(-?\\d+)");
    std::smatch match;
    if (!std::regex_search(text, match, range)) return std::nullopt;
    return Told{match[1], std::stoll(match[3]), std::stoll(match[4])};
  }

  // Keeps a message that names a range, once for each range.
  void note(const std::string& text, std::size_t at, json& limits) {
    const std::optional<Told> told = told_in(text);
    if (!told || (limits.contains("ranges") && limits["ranges"].contains(told->what))) return;
    keep("range", text);
    const json of_row = range_of_row(told->what);
    // An argument that has a limit of its own is not described where another one has led to it.
    const std::optional<std::size_t> own = of_row.is_null() ? std::nullopt : parameter_of(told->what);
    if (own && *own != at) return;
    limits["ranges"][told->what] = of_row.is_null() ? json{told->low, told->high} : of_row;
  }

  // ---- the limits of the row ----

  // The parameter that a limit is named after: "kernel.h" is a member of kernel.
  std::optional<std::size_t> parameter_of(const std::string& what) const {
    const std::string name = what.substr(0, what.find('.'));
    for (std::size_t at = 0; at < valid_.size(); ++at) {
      if (parameter(at).name == name) return at;
    }
    return std::nullopt;
  }

  json bound_of(const Bound& bound) const {
    if (bound.argument == nullptr) return bound.on(device_.chip(), [](const char*) { return std::int64_t{0}; });
    if (bound.number == 0) return bound.argument;
    return fmt::format("{} {} {}", bound.argument, bound.number < 0 ? "-" : "+", std::abs(bound.number));
  }
  // The narrowest of an argument's ranges; null: the row has none.
  json range_of_row(const std::string& what) const {
    json range;
    for (const Limit& limit : limits_of(row_->limits)) {
      if (limit.argument != what) continue;
      const json low = bound_of(limit.low), high = bound_of(limit.high);
      const bool narrower = range.is_null() || (low >= range[0] && high <= range[1]);
      if (narrower) range = {low, high};
    }
    return range;
  }

  void add_limit(const Limit& limit, json& entry) {
    const std::optional<std::size_t> at = parameter_of(limit.argument);
    if (!at) return;
    entry["parameters"][std::string(parameter(*at).name)]["ranges"][limit.argument] = range_of_row(limit.argument);
    ask_at_both_ends(limit, *at);
  }

  // The rules take what the row says and nothing beside it, or this program fails.
  void ask_at_both_ends(const Limit& limit, std::size_t at) {
    const auto value_of = [&](const char* argument) {
      const std::optional<std::size_t> other = parameter_of(argument);
      return other ? valid_[*other].number : 0;
    };
    const Chip& chip = device_.chip();
    const std::int64_t low = limit.low.on(chip, value_of), high = limit.high.on(chip, value_of);
    for (const std::int64_t value : {low - 1, low, high, high + 1}) {
      const std::optional<Value> changed = with_number(at, limit.argument, value);
      if (!changed) continue;
      const std::string answer = ask_with(at, *changed);
      const std::optional<Told> told = told_in(answer);
      const bool about_it = told && told->what == limit.argument;
      const bool inside = value >= low && value <= high;
      const bool other_range = about_it && (told->low != low || told->high != high);
      if (inside ? !about_it || other_range : !answer.empty() && !other_range) continue;
      if (other_range && has_limit(*told)) continue;
      ++contradictions_;
      fmt::print(stderr, "{}: {} = {} is answered by \"{}\", but the row says {}..{}\n", row_->name, limit.argument,
                 value, answer, low, high);
    }
  }
  // Whether one of the argument's ranges is the one that a message tells.
  bool has_limit(const Told& told) const {
    return std::ranges::any_of(limits_of(row_->limits), [&](const Limit& limit) {
      return limit.argument == told.what && limit.low.number == told.low && limit.high.number == told.high;
    });
  }

  // The valid value of a parameter with one number in it changed; empty where its type cannot hold the number.
  std::optional<Value> with_number(std::size_t at, const std::string& what, std::int64_t value) const {
    const std::string_view type = parameter(at).type;
    const bool byte = type.find("char") != std::string_view::npos;
    const bool without_sign = type.find("unsigned") != std::string_view::npos;
    if (value < (without_sign ? 0 : byte ? -128 : INT32_MIN)) return std::nullopt;
    if (value > (byte ? without_sign ? 255 : 127 : INT32_MAX)) return std::nullopt;
    if (grid::is_integer(parameter(at)) || byte) return grid::number(value);
    static const std::map<std::string_view, std::vector<std::string_view>> kMembers = {
        {"const dim4*", {"n", "c", "h", "w"}},
        {"const dim2*", {"h", "w"}},
        {"const padding_t*", {"top", "bottom", "left", "right"}},
        {"const Padding*", {"top", "bottom", "left", "right"}}};
    const auto found = kMembers.find(type);
    if (found == kMembers.end() || what.find('.') == std::string::npos) return std::nullopt;
    const auto member = std::ranges::find(found->second, std::string_view(what).substr(what.find('.') + 1));
    if (member == found->second.end()) return std::nullopt;
    Value changed = valid_[at];
    changed.null = false;
    changed.words[static_cast<std::size_t>(member - found->second.begin())] = static_cast<std::int32_t>(value);
    return changed;
  }

  // The first message of each kind.
  void keep(const char* kind, const std::string& text) { messages_.emplace(kind, text); }

  const grid::Recipes& recipes_;
  std::map<std::string, std::string> messages_;
  std::string chip_;  // as it was asked for: a generation has the name of its chip in its description
  TestDevice device_;
  std::shared_ptr<CostSum> cost_;
  std::map<std::string_view, const Function*> known_;
  const Function* function_ = nullptr;
  const OpInfo* row_ = nullptr;
  int contradictions_ = 0;
  std::string refusal_;  // of the call that the questions begin with
  std::vector<Value> valid_;
  // What further chips have answered: chip, function.
  static inline std::map<std::string, std::map<std::string, json>> answers_;
};

}  // namespace
}  // namespace softtpu::manual

int main() {
  nlohmann::json all = nlohmann::json::object();
  int contradictions = 0;
  const auto add = [&](const char* chip, const softtpu::grid::Recipes& recipes) {
    softtpu::manual::Limits limits(chip, recipes);
    limits.add_to(all);
    contradictions += limits.contradictions();
  };
  add("bm1684x", softtpu::grid::tpu_recipes());
  add("bm1684", softtpu::grid::okk_recipes());
  // A chip whose description begins with another one's is compared with that one.
  constexpr std::array<std::pair<const char*, const char*>, 6> kFurther = {{{"bm1688", ""},
                                                                            {"bm1690", ""},
                                                                            {"bm1684x2", "bm1690"},
                                                                            {"cv184x", "bm1688"},
                                                                            {"bm1690e", "bm1690"},
                                                                            {"bm1684x-23.05", ""}}};
  for (const auto& [chip, base] : kFurther)
    softtpu::manual::Limits(chip, softtpu::grid::tpu_recipes()).add_differences_to(all, base);
  const char* separator = "{";
  for (const auto& [name, entry] : all.items()) {
    fmt::print("{}\n\"{}\": {}", separator, name, entry.dump());
    separator = ",";
  }
  fmt::print("\n}}\n");
  return contradictions == 0 ? 0 : 1;
}
