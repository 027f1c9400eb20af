#include "device/chip/chip.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "device/chip/builtin.hpp"
#include "device/chip/names.hpp"
#include "device/chip/rules.hpp"
#include "device/isa/op.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/text_file.hpp"

namespace softtpu {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostTextBytes = 1U << 20;
// bm_get_board_name writes the name into a buffer of the program's without asking for its size.
constexpr std::size_t kMostNameBytes = 20;

// Reads members of one JSON object and collects the first complaint; every later read is then a no-op.
class Reader {
 public:
  Reader(const Json& object, std::string origin) : object_(object), origin_(std::move(origin)) {
    if (!object_.is_object()) complain("", "is not an object");
  }

  std::uint64_t number(const char* member, std::uint64_t low, std::uint64_t high) {
    const Json* value = find(member);
    if (value == nullptr) return low;
    std::optional<std::uint64_t> number;
    if (value->is_number_unsigned()) number = value->get<std::uint64_t>();
    if (value->is_string()) number = find_number(value->get<std::string>());
    if (!number) return complain(member, "is not a whole number or a \"0x...\" text"), low;
    if (*number < low || *number > high) {
      return complain(member, fmt::format("is {}, outside {}..{}", *number, low, high)), low;
    }
    return *number;
  }

  std::string text(const char* member) {
    const Json* value = find(member);
    if (value == nullptr) return {};
    if (!value->is_string()) return complain(member, "is not a text"), std::string();
    return value->get<std::string>();
  }

  MemoryRange range(const char* member) {
    const Json* value = find(member);
    if (value == nullptr) return {};
    Reader inner(*value, origin_ + "." + member);
    const MemoryRange range{inner.number("start", 0, kMaxAddress), inner.number("bytes", 1, kMaxAddress)};
    if (!complaint.empty() || inner.complaint.empty()) return range;
    complaint = inner.complaint;
    return range;
  }

  bool has(const char* member) const { return object_.is_object() && object_.contains(member); }
  const Json& object() const { return object_; }
  void complain(const std::string& member, const std::string& what) {
    if (complaint.empty()) complaint = fmt::format("{}: \"{}\" {}", origin_, member, what);
  }

  std::string complaint;

  static constexpr std::uint64_t kMaxAddress = 1ULL << 48;

 private:
  const Json* find(const char* member) {
    if (has(member)) return &object_.at(member);
    complain(member, "is missing");
    return nullptr;
  }

  const Json& object_;
  std::string origin_;
};

std::uint64_t read_core_step(Reader& memory, std::uint64_t bytes) {
  if (!memory.has("core_step")) return 0;
  const std::uint64_t step = memory.number("core_step", 0, Reader::kMaxAddress / 64);
  if (step != 0 && step < bytes)
    memory.complain("core_step", fmt::format("is {}, less than the memory's {} bytes", step, bytes));
  return step;
}

void read_local_mem(Reader& reader, Chip& chip) {
  if (!reader.has("local_mem")) return reader.complain("local_mem", "is missing");
  Reader local(reader.object().at("local_mem"), "local_mem");
  chip.local_mem.start = local.number("start", 0, Reader::kMaxAddress);
  chip.local_bytes = static_cast<std::uint32_t>(local.number("bytes_per_npu", 256, 1U << 24));
  chip.banks = static_cast<int>(local.number("banks", 1, 256));
  chip.local_mem.bytes = std::uint64_t{chip.local_bytes} * static_cast<std::uint64_t>(chip.npu_num);
  if (chip.local_bytes % static_cast<std::uint32_t>(chip.banks) != 0)
    local.complain("banks", "does not divide bytes_per_npu");
  if (local.complaint.empty() && chip.bank_bytes() % static_cast<std::uint32_t>(chip.eu_bytes) != 0)
    local.complain("banks", fmt::format("gives banks of {} bytes, no multiple of eu_bytes ({})", chip.bank_bytes(),
                                        chip.eu_bytes));
  chip.local_core_step = read_core_step(local, chip.local_mem.bytes);
  if (!local.complaint.empty()) reader.complain("local_mem", "is wrong: " + local.complaint);
}

// What a description may say; a misspelt member must not pass as one that is absent.
void check_members(Reader& reader) {
  static constexpr std::string_view kKnown[] = {"name",    "api",         "mode",         "chip_id",
                                                "npu_num", "eu_bytes",    "cores",        "local_mem",
                                                "dtcm",    "static_mem",  "l2_sram",      "global_mem",
                                                "timing",  "revision",    "rules",        "refused",
                                                "parts",   "sum_group",   "weight_block", "dma_w_stride_bytes",
                                                "types",   "also_called", "type_numbers", "refused_types"};
  if (!reader.object().is_object()) return;
  for (const auto& item : reader.object().items())
    if (std::find(std::begin(kKnown), std::end(kKnown), item.key()) == std::end(kKnown))
      reader.complain(item.key(), "is no member of a chip");
}

// An address must mean one memory.
struct NamedRange {
  const char* name;
  MemoryRange range;
};

// Both by their starts.
bool overlap(const Chip& chip, const NamedRange& low, const NamedRange& high) {
  // Global memory is never used where a smaller memory answers, so that one may lie in its reserved part.
  const bool reserved = std::string_view(low.name) == "global_mem" &&
                        high.range.start + high.range.bytes <= chip.global_mem.start + chip.global_reserved;
  return !reserved && high.range.start - low.range.start < low.range.bytes;
}

// All memories, among them those whose addresses further cores get.
std::vector<NamedRange> places_of(const Chip& chip) {
  std::vector<NamedRange> places = {
      {"local_mem", chip.local_mem}, {"static_mem", chip.static_mem}, {"global_mem", chip.global_mem}};
  if (chip.l2_sram.bytes != 0) places.push_back({"l2_sram", chip.l2_sram});
  if (chip.dtcm) places.push_back({"dtcm", *chip.dtcm});
  for (std::uint64_t core = 1; core < static_cast<std::uint64_t>(chip.cores); ++core) {
    if (const auto step = chip.local_core_step)
      places.push_back({"local_mem", {chip.local_mem.start + core * step, chip.local_mem.bytes}});
    if (const auto step = chip.l2_core_step)
      places.push_back({"l2_sram", {chip.l2_sram.start + core * step, chip.l2_sram.bytes}});
  }
  return places;
}

// The first two neighbours that overlap, as {low, high}.
std::optional<std::pair<NamedRange, NamedRange>> find_overlap(const Chip& chip, std::vector<NamedRange> places) {
  std::sort(places.begin(), places.end(),
            [](const NamedRange& a, const NamedRange& b) { return a.range.start < b.range.start; });
  for (std::size_t i = 1; i < places.size(); ++i)
    if (overlap(chip, places[i - 1], places[i])) return std::pair(places[i - 1], places[i]);
  return std::nullopt;
}

void check_map(Reader& reader, const Chip& chip) {
  const auto found = find_overlap(chip, places_of(chip));
  if (!found) return;
  const auto& [low, high] = *found;
  reader.complain(high.name, fmt::format("starts at 0x{:x}, inside {} (0x{:x} to 0x{:x})", high.range.start, low.name,
                                         low.range.start, low.range.start + low.range.bytes));
}

// Every core has addresses of its own as far as the map has room; else all cores get core 0's address of that memory.
void fit_core_steps(Chip& chip) {
  const std::uint64_t l2_step = std::exchange(chip.l2_core_step, 0);
  if (find_overlap(chip, places_of(chip))) chip.local_core_step = 0;
  chip.l2_core_step = l2_step;
  if (find_overlap(chip, places_of(chip))) chip.l2_core_step = 0;
}

std::optional<Founded> find_founded(const Json& text) {
  if (text == "measured") return Founded::kMeasured;
  if (text == "vendor") return Founded::kVendor;
  if (text == "guess") return Founded::kGuess;
  return std::nullopt;
}

void read_timing(Reader& reader, Chip& chip) {
  if (!reader.has("timing")) return;
  const Json& timing = reader.object().at("timing");
  if (!timing.is_object()) return reader.complain("timing", "is not an object");
  for (const auto& [name, item] : timing.items()) {
    const bool whole =
        item.is_object() && item.contains("value") && item.at("value").is_number() && item.contains("founded");
    const auto founded = whole ? find_founded(item.at("founded")) : std::nullopt;
    if (!founded)
      return reader.complain("timing." + name, "is not {\"value\": number, \"founded\": \"measured|vendor|guess\"}");
    chip.timing[name] = {item.at("value").get<double>(), *founded};
  }
}

void read_rules(Reader& reader, Chip& chip) {
  if (!reader.has("rules")) return;
  const Json& rules = reader.object().at("rules");
  if (!rules.is_array()) return reader.complain("rules", "is not a list");
  for (const Json& item : rules) {
    const QuirkInfo* info = item.is_string() ? find_chip_rule(item.get<std::string>()) : nullptr;
    if (info == nullptr) return reader.complain("rules", fmt::format("names {}, which is no rule", item.dump()));
    chip.rules.set(static_cast<std::size_t>(info->rule));
  }
}

// The functions that a name of "refused" stands for: itself, or all that begin with what stands before its "*".
std::vector<std::string> functions_named(const std::string& name) {
  const auto needs = [&](const OpInfo& row) { return part_for(row) == name; };
  if (!name.ends_with('*')) {
    const bool known = find_op(name) || std::any_of(all_ops().begin(), all_ops().end(), needs);
    return known ? std::vector<std::string>{name} : std::vector<std::string>();
  }
  std::vector<std::string> functions;
  for (const OpInfo& row : all_ops())
    if (row.name.starts_with(std::string_view(name).substr(0, name.size() - 1))) functions.emplace_back(row.name);
  return functions;
}

void read_refused(Reader& reader, Chip& chip) {
  if (!reader.has("refused")) return;
  const Json& refused = reader.object().at("refused");
  if (!refused.is_object()) return reader.complain("refused", "is not an object");
  for (const auto& [name, reason] : refused.items()) {
    const std::vector<std::string> functions = functions_named(name);
    if (functions.empty())
      return reader.complain("refused." + name, "is no function, and no part that a function needs");
    // One that a name with "*" would stand for as well.
    if (reason == false) continue;
    if (!reason.is_string()) return reader.complain("refused." + name, "is not a text or false");
    for (const std::string& function : functions)
      if (!refused.contains(function) || function == name) chip.refused[function] = reason.get<std::string>();
  }
}

// Parts that the rules of commands ask for; the others are what functions need.
constexpr const char* kAskedParts[] = {"4-bit integers to floats", "4-bit results of conversions",
                                       "4-bit integers in arithmetic"};

void read_parts(Reader& reader, Chip& chip) {
  if (!reader.has("parts")) return;
  const Json& list = reader.object().at("parts");
  if (!list.is_array()) return reader.complain("parts", "is not a list");
  for (const Json& item : list) {
    const auto needs = [&](const OpInfo& row) { return row.support != Support::kUnsupported && row.note == item; };
    const bool asked = std::find(std::begin(kAskedParts), std::end(kAskedParts), item) != std::end(kAskedParts);
    if (!item.is_string() || !(asked || std::any_of(all_ops().begin(), all_ops().end(), needs)))
      return reader.complain("parts", fmt::format("names {}, which no function needs", item.dump()));
    chip.parts.insert(item.get<std::string>());
  }
}

void read_l2(Reader& reader, Chip& chip) {
  // A chip without L2 may tell a size all the same.
  if (reader.has("l2_sram") && reader.object().at("l2_sram").is_object() &&
      !reader.object().at("l2_sram").contains("bytes")) {
    Reader sizes(reader.object().at("l2_sram"), "l2_sram");
    chip.l2_usable = sizes.number("told_bytes", 0, Reader::kMaxAddress);
    if (!sizes.complaint.empty()) reader.complain("l2_sram", "is wrong: " + sizes.complaint);
    return;
  }
  chip.l2_sram = reader.range("l2_sram");
  chip.l2_usable = chip.l2_sram.bytes;
  if (!reader.complaint.empty()) return;
  Reader l2(reader.object().at("l2_sram"), "l2_sram");
  if (l2.has("usable_bytes")) chip.l2_usable = l2.number("usable_bytes", 1, chip.l2_sram.bytes);
  if (l2.has("per_core_bytes")) {
    chip.l2_usable = l2.number("per_core_bytes", 1, chip.l2_sram.bytes / static_cast<unsigned>(chip.cores));
    chip.l2_per_core = true;
  }
  chip.l2_core_step = read_core_step(l2, chip.l2_sram.bytes);
  if (!l2.complaint.empty()) reader.complain("l2_sram", "is wrong: " + l2.complaint);
}

// Types that not every chip has.
void read_types(Reader& reader, Chip& chip) {
  if (!reader.has("types")) return;
  const Json& list = reader.object().at("types");
  if (!list.is_array()) return reader.complain("types", "is not a list");
  for (const Json& item : list) {
    constexpr Dtype kTypes[] = {Dtype::kUint4, Dtype::kInt4, Dtype::kFp8E5M2, Dtype::kFp8E4M3,
                                Dtype::kTf32,  Dtype::kFp20, Dtype::kFp4};
    const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes), [&](Dtype type) {
      return item.is_string() && item == std::string(to_text(type));
    });
    if (found == std::end(kTypes))
      return reader.complain("types", fmt::format("names {}, which is no such type", item.dump()));
    chip.extra_types |= types(*found);
  }
}

void read_type_numbers(Reader& reader, Chip& chip) {
  if (!reader.has("type_numbers")) return;
  const Json& numbers = reader.object().at("type_numbers");
  if (!numbers.is_object()) return reader.complain("type_numbers", "is not an object");
  Reader inner(numbers, "type_numbers");
  for (const auto& [name, number] : numbers.items()) {
    const auto* const type = std::find_if(std::begin(kEveryType), std::end(kEveryType),
                                          [&name = name](Dtype one) { return to_text(one) == name; });
    if (type == std::end(kEveryType)) return reader.complain("type_numbers." + name, "is no data type");
    chip.type_numbers.set(*type, static_cast<int>(inner.number(name.c_str(), 0, 63)));
  }
  if (!inner.complaint.empty()) reader.complain("type_numbers", "is wrong: " + inner.complaint);
}

// Types that functions refuse: of names as in "refused", whether they do. Of two names the longer one counts. A name
// that ends with "(ARGUMENT)" speaks of that argument alone. They are kept beside the functions that are refused as a
// whole, as "FUNCTION TYPE" and "FUNCTION(ARGUMENT) TYPE".
void read_refused_types(Reader& reader, Chip& chip) {
  if (!reader.has("refused_types")) return;
  const Json& refused = reader.object().at("refused_types");
  if (!refused.is_object()) return reader.complain("refused_types", "is not an object");
  for (const auto& [type_name, list] : refused.items()) {
    const std::string member = "refused_types." + type_name;
    const auto is_named = [&name = type_name](Dtype one) { return to_text(one) == name; };
    if (std::none_of(std::begin(kEveryType), std::end(kEveryType), is_named))
      return reader.complain(member, "is no data type");
    if (!list.is_object()) return reader.complain(member, "is not an object");
    std::vector<std::pair<std::string, bool>> names;
    for (const auto& [name, refuses] : list.items()) {
      if (!refuses.is_boolean())
        return reader.complain(fmt::format("{}.{}", member, name), "is neither true nor false");
      names.emplace_back(name, refuses.get<bool>());
    }
    std::stable_sort(names.begin(), names.end(),
                     [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
    for (const auto& [name, refuses] : names) {
      const std::size_t argument = std::min(name.find('('), name.size());
      const std::vector<std::string> functions = functions_named(name.substr(0, argument));
      if (functions.empty()) return reader.complain(fmt::format("{}.{}", member, name), "is no function");
      for (const std::string& function : functions) {
        const std::string key = fmt::format("{}{} {}", function, name.substr(argument), type_name);
        refuses ? void(chip.refused[key] = "the function does not take this type") : void(chip.refused.erase(key));
      }
    }
  }
}

// What may be left out, with what holds then.
void read_options(Reader& reader, Chip& chip) {
  if (reader.has("revision")) chip.revision = reader.text("revision");
  if (reader.has("sum_group")) chip.sum_group = static_cast<int>(reader.number("sum_group", 1, 1024));
  if (reader.has("weight_block")) chip.weight_block = static_cast<int>(reader.number("weight_block", 1, 1024));
  if (reader.has("dma_w_stride_bytes"))
    chip.dma_w_stride_bytes = static_cast<int>(reader.number("dma_w_stride_bytes", 4, 65536));
  read_types(reader, chip);
  read_type_numbers(reader, chip);
  read_refused_types(reader, chip);
  read_rules(reader, chip);
  read_refused(reader, chip);
  read_parts(reader, chip);
}

Chip read_chip(Reader& reader) {
  Chip chip;
  check_members(reader);
  chip.name = reader.text("name");
  if (chip.name.empty() || chip.name.size() > kMostNameBytes)
    reader.complain("name", fmt::format("has {} characters, outside 1..{}", chip.name.size(), kMostNameBytes));
  const std::string api = reader.text("api");
  if (api != "tpukernel" && api != "okkernel") reader.complain("api", "is neither \"tpukernel\" nor \"okkernel\"");
  chip.api = api == "okkernel" ? Api::kOkKernel : Api::kTpuKernel;
  const std::string mode = reader.text("mode");
  if (mode != "pcie" && mode != "soc") reader.complain("mode", "is neither \"pcie\" nor \"soc\"");
  chip.mode = mode == "soc" ? ChipMode::kSoc : ChipMode::kPcie;
  chip.chip_id = static_cast<std::uint32_t>(reader.number("chip_id", 0, 0xFFFFFFFF));
  chip.npu_num = static_cast<int>(reader.number("npu_num", 1, 1024));
  chip.eu_bytes = static_cast<int>(reader.number("eu_bytes", 4, 1024));
  if (chip.eu_bytes % 4 != 0) reader.complain("eu_bytes", fmt::format("is {}, no multiple of 4", chip.eu_bytes));
  chip.cores = static_cast<int>(reader.number("cores", 1, 64));
  read_local_mem(reader, chip);
  chip.static_mem = reader.range("static_mem");
  read_l2(reader, chip);
  chip.global_mem = reader.range("global_mem");
  read_timing(reader, chip);
  read_options(reader, chip);
  if (reader.has("dtcm")) chip.dtcm = reader.range("dtcm");
  if (reader.complaint.empty()) {
    Reader global(reader.object().at("global_mem"), "global_mem");
    chip.global_reserved = global.number("reserved_bytes", 0, chip.global_mem.bytes);
    if (!global.complaint.empty()) reader.complain("global_mem", "is wrong: " + global.complaint);
  }
  if (!reader.complaint.empty()) return chip;
  fit_core_steps(chip);
  check_map(reader, chip);
  return chip;
}

const BuiltinChip* find_builtin(const std::string& name) {
  const auto& chips = builtin_chips();
  const auto found =
      std::find_if(chips.begin(), chips.end(), [&](const BuiltinChip& chip) { return chip.name == name; });
  return found == chips.end() ? nullptr : &*found;
}

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& letter : small) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return small;
}

// A chip under one of its names, in lower case: what its description is then. "also_called" gives each further name
// with what is different under it.
std::optional<Json> find_named(const std::string& name) {
  if (const BuiltinChip* chip = find_builtin(name)) return Json::parse(chip->json);
  for (const BuiltinChip& chip : builtin_chips()) {
    Json json = Json::parse(chip.json);
    if (chip.name + "-" + json.value("revision", "") == name) return json;
    const Json others = json.value("also_called", Json::object());
    if (!others.contains(name)) continue;
    json.merge_patch(others.at(name));
    return json;
  }
  return std::nullopt;
}

std::string known_names() {
  std::string names;
  for (const std::string& name : builtin_chip_names()) names += (names.empty() ? "" : ", ") + name;
  return names;
}

// `changes` says of rules by name whether they hold; of all others `list` decides, the base's rules.
Json changed_rules(const Json& list, const Json& changes) {
  Json rules = Json::array();
  for (const Json& rule : list)
    if (!rule.is_string() || !changes.contains(rule.get<std::string>())) rules.push_back(rule);
  for (const auto& [rule, holds] : changes.items())
    if (holds == true) rules.push_back(rule);
  return rules;
}

// Puts what `json` says over the built-in chip that its "base" names. Members of objects are replaced one by one; a
// null removes one. A base has no base itself, or a built-in one.
Result<Json> apply_base(Json json, const std::string& origin) {
  if (!json.is_object() || !json.contains("base")) return json;
  const Json base = json.at("base");
  const BuiltinChip* chip = base.is_string() ? find_builtin(base.get<std::string>()) : nullptr;
  if (chip == nullptr) {
    return Error{ErrorKind::kUsage, fmt::format("{}: \"base\" ({}) is no chip that softtpu knows ({})", origin,
                                                base.dump(), known_names())};
  }
  json.erase("base");
  auto whole = apply_base(Json::parse(chip->json), origin);
  if (!whole) return whole;
  whole->erase("also_called");
  if (json.contains("rules") && json.at("rules").is_object())
    json["rules"] = changed_rules(whole->value("rules", Json::array()), json.at("rules"));
  whole->merge_patch(json);
  return whole;
}

}  // namespace

namespace {

Result<Chip> to_chip(const Json& own, const std::string& origin) {
  const auto json = apply_base(own, origin);
  if (!json) return json.error();
  Reader reader(*json, origin);
  Chip chip = read_chip(reader);
  if (!reader.complaint.empty()) return Error{ErrorKind::kUsage, reader.complaint};
  return chip;
}

}  // namespace

Result<Chip> parse_chip(const std::string& json_text, const std::string& origin) {
  const Json own = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (own.is_discarded()) return Error{ErrorKind::kUsage, origin + ": not a JSON text"};
  return to_chip(own, origin);
}

Result<Chip> load_chip(const std::string& name_or_path) {
  if (const auto json = find_named(lower(name_or_path))) return to_chip(*json, "chip " + name_or_path);
  if (name_or_path.starts_with('{')) return parse_chip(name_or_path, "the chip description");
  if (::access(name_or_path.c_str(), R_OK) != 0) {
    return Error{ErrorKind::kUsage,
                 fmt::format("\"{}\" is neither a chip that softtpu knows ({}; `softtpu info` has their "
                             "other names) nor a readable file",
                             name_or_path, known_names())};
  }
  auto text = read_text_file(name_or_path, kMostTextBytes);
  if (!text) return Error{ErrorKind::kUsage, text.error().text};
  return parse_chip(*text, name_or_path);
}

bool is_name_of(const Chip& chip, std::string_view text) {
  const std::string name = lower(text);
  if (name == lower(chip.name) || name == lower(chip.full_name())) return true;
  const auto json = find_named(name);
  const auto named = json ? to_chip(*json, name) : Result<Chip>(Error{});
  return named && named->full_name() == chip.full_name() && named->cores == chip.cores;
}

std::vector<std::string> other_names(const std::string& builtin) {
  std::vector<std::string> names;
  if (const BuiltinChip* chip = find_builtin(builtin)) {
    const Json others = Json::parse(chip->json).value("also_called", Json::object());
    for (const auto& item : others.items()) names.push_back(item.key());
  }
  return names;
}

std::string canonical_chip_name(const std::string& text) {
  const std::string name = lower(text);
  for (const BuiltinChip& chip : builtin_chips()) {
    const Json json = Json::parse(chip.json);
    if (chip.name == name || chip.name + "-" + json.value("revision", "") == name ||
        json.value("also_called", Json::object()).contains(name))
      return chip.name;
  }
  return text;
}

std::vector<std::string> builtin_chip_names() {
  std::vector<std::string> names;
  for (const BuiltinChip& chip : builtin_chips()) names.push_back(chip.name);
  return names;
}

}  // namespace softtpu
