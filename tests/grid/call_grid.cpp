#include "tests/grid/call_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace softtpu::grid {
namespace {

constexpr Places kPlaces;
constexpr std::size_t kGlobalBytes = 0x8000;  // of each that are compared
constexpr int kGlobalOperands = 16;

bool is_written(const Parameter& parameter) {
  for (const char* stem : {"dst", "output", "work", "count", "result"}) {
    if (parameter.name.find(stem) != std::string_view::npos) return true;
  }
  return false;
}
bool is_code(const Parameter& parameter) {
  return parameter.type == "rounding_mode_t" || parameter.type == "op_type_t" || parameter.type == "mul_type_t";
}

bool mentions_any(const std::string& text, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

}  // namespace

using Changes = std::vector<CallGrid::Change>;

namespace {

CallGrid::Change null_change(std::size_t at) {
  Value null;
  null.null = true;
  return {"NULL", at, null, {"NULL"}};
}

Changes number_changes(std::size_t at, std::initializer_list<std::int64_t> values) {
  Changes out;
  for (const std::int64_t value : values) {
    const std::string text = fmt::format("{}", value);
    CallGrid::Change change{text, at, number(value), {text}};
    // A size may also be refused by where it leads to; a count without sign has another value.
    if (value == INT32_MAX)
      change = {"largest",
                at,
                number(value),
                {text, "ends at offset", "does not lie", "neither in", "lies beyond", "output.c"}};
    if (value == -1) change.shown.insert(change.shown.end(), {"4294967295", "output.c", "lies beyond", "-2"});
    out.push_back(std::move(change));
  }
  return out;
}

// One member of a shape, a window or a padding at a time. A stride may also be refused by where it leads to.
Changes member_changes(std::size_t at, const Value& valid, std::span<const char* const> names,
                       std::initializer_list<int> values) {
  Changes out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const int value : values) {
      Value changed = valid;
      changed.words[i] = value;
      const std::string text = fmt::format("{}", value);
      out.push_back({fmt::format("{}={}", names[i], value == INT32_MAX ? "largest" : text),
                     at,
                     changed,
                     {text, "ends at offset", "does not lie inside", "is damaged"}});
    }
  }
  return out;
}

Changes type_changes(const Parameter& parameter, std::size_t at, const Value& valid, const OpInfo& row) {
  Changes out;
  for (const int code : {-1, 2, 15, 100})
    out.push_back({fmt::format("code {}", code), at, number(code), {fmt::format("{}", code)}});
  const bool of_dst =
      parameter.name == "dtype" || parameter.name.starts_with("dst") || parameter.name.starts_with("output");
  for (const auto& [name, code] : type_codes()) {
    const auto type = static_cast<Dtype>(code);
    if (type == Dtype::kFp8E5M2 || type == Dtype::kFp8E4M3) continue;  // no types of these chips: code 15 above
    const bool forbidden = type == Dtype::kInt4 || type == Dtype::kUint4 ||
                           (of_dst && row.types != kNoTypes && !contains(row.types, type));
    if (forbidden && code != valid.number) out.push_back({name, at, number(code), {std::string(to_text(type))}});
  }
  return out;
}

}  // namespace

CallGrid::CallGrid(Description description) : description_(std::move(description)), device_(description_.chip) {}

std::vector<CallGrid::Change> CallGrid::local_changes(std::size_t at, const Value& valid) const {
  const Chip& chip = device_.chip();
  const std::int64_t address = valid.number;
  const auto beyond = static_cast<std::int64_t>(chip.local_mem.bytes);
  const auto hex = [](std::int64_t value) { return fmt::format("0x{:x}", value); };
  // A packed operand may be named by its second member, 4 bytes on; a lane check names the NPU.
  return {{"beyond memory",
           at,
           number(beyond),
           {hex(beyond), hex(beyond + 4), fmt::format("NPU {}", chip.npu_num), fmt::format("({})", chip.npu_num)}},
          {"misaligned", at, number(address + 1), {hex(address + 1), hex(address + 5)}},
          {"past the end",
           at,
           number(std::int64_t{chip.local_bytes} - chip.eu_bytes),
           {fmt::format("{}", chip.local_bytes)}},
          {"next NPU", at, number(address + chip.local_bytes), {"NPU"}}};
}

std::vector<CallGrid::Change> CallGrid::system_changes(std::size_t at, const Value& valid) const {
  const MemoryRange& memory = device_.chip().global_mem;
  const auto end = static_cast<std::int64_t>(memory.start + memory.bytes);
  const auto change = [&](const char* name, std::int64_t address) {
    // The window onto local memory is named by the local address; a stream is read before its address matters.
    const std::uint64_t local = static_cast<std::uint64_t>(address) - device_.chip().local_mem.start;
    return Change{
        name,
        at,
        number(address),
        {fmt::format("0x{:x}", static_cast<std::uint64_t>(address)), fmt::format("0x{:x}", local), "is damaged"}};
  };
  return {change("no memory", 0), change("misaligned", valid.number + 1), change("past the end", end - 4),
          change("end of addresses", -64)};
}

std::vector<CallGrid::Change> CallGrid::variable_changes(const Parameter& parameter, std::size_t at,
                                                         const Value& valid) const {
  const int kind = valid.words[0];
  const auto beyond = static_cast<int>(device_.chip().local_mem.bytes);
  const int next = valid.words[1] + static_cast<int>(device_.chip().local_bytes);
  std::vector<Change> out = {null_change(at),
                             {"beyond memory", at, dims({kind, beyond}), {fmt::format("0x{:x}", beyond)}},
                             {"next NPU", at, dims({kind, next}), {"NPU"}}};
  if (parameter.type == "const variable_t*") out.push_back({"type=7", at, dims({7, valid.words[1]}), {"7"}});
  return out;
}

// An address that shares its place with a constant.
std::vector<CallGrid::Change> CallGrid::union_changes(std::size_t at, const Value& valid) const {
  std::vector<Change> out = local_changes(at, number(valid.words[0]));
  for (Change& change : out) change.value = dims({static_cast<int>(change.value.number)});
  return out;
}

// optional_info_t {is_const, dtype, address or constant} and requant_int_info_t {is_perchannel, round_mode, address,
// ...}.
std::vector<CallGrid::Change> CallGrid::info_changes(const Parameter& parameter, std::size_t at,
                                                     const Value& valid) const {
  std::vector<Change> out = {null_change(at)};
  Value unknown = valid;
  unknown.words[1] = 100;
  out.push_back({"code=100", at, unknown, {"100"}});
  const bool stored = (parameter.type == "optional_info_t*") == (valid.words[0] == 0);
  if (!stored) return out;
  for (const Change& change : local_changes(at, number(valid.words[2]))) {
    Value moved = valid;
    moved.words[2] = static_cast<int>(change.value.number);
    out.push_back({change.name, at, moved, change.shown});
  }
  return out;
}

std::vector<CallGrid::Change> CallGrid::changes_of(const Parameter& parameter, std::size_t at, const Value& valid,
                                                   const OpInfo& row) const {
  static constexpr const char* kMembers[] = {"n", "c", "h", "w"};
  static constexpr const char* kSides[] = {"top", "bottom", "left", "right"};
  if (is_local(parameter)) return local_changes(at, valid);
  if (is_system(parameter)) return system_changes(at, valid);
  if (is_variable(parameter)) return variable_changes(parameter, at, valid);
  if (parameter.type == "var_context_t") return union_changes(at, valid);
  if (parameter.type.ends_with("_info_t*")) return info_changes(parameter, at, valid);
  if (parameter.type == "data_type_t") return type_changes(parameter, at, valid, row);
  if (is_integer(parameter)) return number_changes(at, {-1, 0, INT32_MAX});
  if (is_code(parameter)) return number_changes(at, {-1, 99});
  if (parameter.type == "const padding_t*" || parameter.type == "const Padding*")
    return member_changes(at, valid, kSides, {-1, INT32_MAX});
  if (parameter.type == "const dim2*") {
    std::vector<Change> out = member_changes(at, valid, std::span(kMembers).subspan(2), {0, -1, INT32_MAX});
    out.push_back(null_change(at));
    return out;
  }
  if (parameter.type != "const dim4*") return {};
  if (is_stride(parameter)) return member_changes(at, dims({1, 1, 1, 1}), kMembers, {-1, INT32_MAX});
  std::vector<Change> out = member_changes(at, valid, kMembers, {0, -1, 65536, INT32_MAX});
  out.push_back(null_change(at));
  out.push_back({"huge", at, dims({65535, 65535, 65535, 65535}), {"65535"}});
  return out;
}

std::vector<CallGrid::Change> CallGrid::changes(const Function& function, const OpInfo& row,
                                                const std::vector<Value>& valid) const {
  std::vector<Change> out;
  for (std::size_t at = 0; at < valid.size(); ++at) {
    for (Change& change : changes_of(function.parameters[at], at, valid[at], row)) out.push_back(std::move(change));
  }
  return out;
}

void CallGrid::reset_memory(const Function& function, const std::vector<Value>& valid) {
  const Chip& chip = device_.chip();
  std::memset(device_.local<std::uint8_t>(0, 0), 0, chip.local_mem.bytes);
  for (int i = 0; i < kGlobalOperands; ++i)
    std::memset(device_.global<std::uint8_t>(device_.scratch(static_cast<std::uint64_t>(i) * kPlaces.global_step)), 0,
                kGlobalBytes);
  for (std::size_t at = 0; at < valid.size(); ++at) {
    const Parameter& parameter = function.parameters[at];
    if (!is_written(parameter)) continue;
    const auto address = static_cast<std::uint64_t>(valid[at].number);
    if (is_local(parameter)) {
      const std::uint32_t offset = chip.offset_of(address);
      const std::uint32_t bytes = std::min(kPlaces.local_step, chip.local_bytes - offset);
      for (int npu = 0; npu < chip.npu_num; ++npu) std::memset(device_.local<std::uint8_t>(npu, offset), 0xA5, bytes);
    }
    if (is_system(parameter) && chip.global_mem.contains(address))
      std::memset(device_.global<std::uint8_t>(address), 0xA5, kGlobalBytes);
  }
  if (const Preparation* preparation = find_preparation(description_.recipes, function.name)) {
    const LaunchOutcome outcome = device_.run([&] { preparation->kernel(valid); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
  }
}

void CallGrid::remember() {
  local_ = device_.local_bytes();
  global_.clear();
  for (int i = 0; i < kGlobalOperands; ++i) {
    const std::uint8_t* from =
        device_.global<std::uint8_t>(device_.scratch(static_cast<std::uint64_t>(i) * kPlaces.global_step));
    global_.insert(global_.end(), from, from + kGlobalBytes);
  }
}

bool CallGrid::unchanged() const {
  auto& device = const_cast<TestDevice&>(device_);
  for (int i = 0; i < kGlobalOperands; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const std::uint8_t* now = device.global<std::uint8_t>(device.scratch(index * kPlaces.global_step));
    if (std::memcmp(now, global_.data() + index * kGlobalBytes, kGlobalBytes) != 0) return false;
  }
  return std::memcmp(local_.data(), device.local<std::uint8_t>(0, 0), local_.size()) == 0;
}

// What messages call an argument: "dst" is dst_addr, dst_stride or dst_dtype.
std::vector<std::string> CallGrid::names_of(const Function& function, const Parameter& parameter) const {
  const std::string name(parameter.name);
  if (name == "dtype") return {"type", "dtype", "has no byte size"};
  std::vector<std::string> names = {name};
  for (const std::string end : {"_addr", "_stride", "_dtype", "_shape"}) {
    if (name.ends_with(end)) names.push_back(name.substr(0, name.size() - end.size()));
  }
  std::string words = name;
  std::replace(words.begin(), words.end(), '_', ' ');
  names.push_back(words);
  for (const Alias& alias : description_.aliases) {
    if (matches(alias.functions, function.name) && matches(alias.parameter, name)) names.push_back(alias.words);
  }
  return names;
}

bool CallGrid::is_legal(const Function& function, const Change& change) {
  bool legal = false;
  for (std::size_t i = 0; i < description_.legal.size(); ++i) {
    const Legal& entry = description_.legal[i];
    if (!matches(entry.functions, function.name) || !matches(entry.change, change.name) ||
        !matches(entry.parameter, function.parameters[change.parameter].name))
      continue;
    used_[i] = legal = true;
  }
  return legal;
}

void CallGrid::check_refused(const Function& function, const Change& change, const LaunchOutcome& outcome) const {
  const Parameter& parameter = function.parameters[change.parameter];
  const std::string what = fmt::format("{}, {} {}", function.name, parameter.name, change.name);
  if (outcome.ok) {
    ADD_FAILURE() << what << ": accepted";
    return;
  }
  const std::string text = outcome.text.substr(0, outcome.text.find('\n'));
  if (!text.starts_with(std::string(function.name) + ": ") || !mentions_any(text, names_of(function, parameter)) ||
      !mentions_any(text, change.shown))
    ADD_FAILURE() << what << ", message without function, argument or value: " << text;
}

Counts CallGrid::run() {
  Counts counts;
  std::map<std::string_view, const Function*> known;
  for (const Function& function : description_.recipes.functions) known[function.name] = &function;
  used_.assign(description_.legal.size(), false);
  for (const OpInfo& row : all_ops()) {
    if (row.api != device_.chip().api || !row.note.empty()) continue;
    if (row.engine == Engine::kNone || row.engine == Engine::kControl) continue;
    const auto found = known.find(row.name);
    if (found == known.end()) {
      ADD_FAILURE() << row.name << " is not among the functions of the headers";
      continue;
    }
    const Function& function = *found->second;
    ++counts.rows;
    const std::vector<Value> valid = make_recipe(description_.recipes, function, row, device_.chip(), kPlaces);
    const auto run = [&](std::vector<Value> values) { return device_.run([&] { function.call(values); }); };
    reset_memory(function, valid);
    const LaunchOutcome outcome = run(valid);
    EXPECT_TRUE(outcome.ok) << "has no valid recipe: " << outcome.text;
    if (!outcome.ok) continue;
    ++counts.valid;
    reset_memory(function, valid);
    remember();
    for (const Change& change : changes(function, row, valid)) {
      std::vector<Value> values = valid;
      values[change.parameter] = change.value;
      const LaunchOutcome answer = run(values);
      if (answer.ok && is_legal(function, change)) {
        reset_memory(function, valid);
        ++counts.legal;
        continue;
      }
      check_refused(function, change, answer);
      ++counts.invalid;
    }
    EXPECT_TRUE(unchanged()) << function.name << ": a refused call changed memory";
  }
  for (std::size_t i = 0; i < used_.size(); ++i)
    EXPECT_TRUE(used_[i]) << "no call needs the entry " << description_.legal[i].functions << " "
                          << description_.legal[i].change;
  return counts;
}

}  // namespace softtpu::grid
