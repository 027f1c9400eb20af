// Reads recorded cases (golden/README.md) and resolves everything that depends on the device's addresses.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "okk.h"
#include "runtime/base/text_file.hpp"
#include "tools/golden/case.hpp"
#include "tools/golden/fill.hpp"
#include "tools/golden/kernel/script.hpp"
#include "tpu_defs.h"

namespace softtpu::golden {
namespace {

using Json = nlohmann::json;

// A case that cannot be read; caught where the family is read, so that one line names file and case.
struct BadCase : std::runtime_error {
  using std::runtime_error::runtime_error;
};

const std::map<std::string, int>& enumerators() {
#define ENUMERATOR(name) \
  { #name, name }
  static const std::map<std::string, int> table = {{"DT_F16", 3},
                                                   ENUMERATOR(RM_HALF_TO_EVEN),
                                                   ENUMERATOR(RM_HALF_AWAY_FROM_ZERO),
                                                   ENUMERATOR(RM_TOWARDS_ZERO),
                                                   ENUMERATOR(RM_DOWN),
                                                   ENUMERATOR(RM_UP),
                                                   ENUMERATOR(RM_HALF_UP),
                                                   ENUMERATOR(RM_HALF_DOWN),
                                                   ENUMERATOR(TENSOR),
                                                   ENUMERATOR(SCALAR),
                                                   ENUMERATOR(VECTOR),
                                                   ENUMERATOR(S8_OP_S8_TO_S8),
                                                   ENUMERATOR(S8_OP_S8_TO_S16),
                                                   ENUMERATOR(S8_OP_U8_TO_S8),
                                                   ENUMERATOR(S8_OP_U8_TO_S16),
                                                   ENUMERATOR(U8_OP_S8_TO_S8),
                                                   ENUMERATOR(U8_OP_S8_TO_S16),
                                                   ENUMERATOR(U8_OP_U8_TO_S8),
                                                   ENUMERATOR(U8_OP_U8_TO_S16),
                                                   ENUMERATOR(U8_OP_U8_TO_U8),
                                                   ENUMERATOR(U8_OP_U8_TO_U16),
                                                   ENUMERATOR(S16_OP_S16_TO_S8),
                                                   ENUMERATOR(S16_OP_S16_TO_S16),
                                                   ENUMERATOR(S16_OP_U16_TO_S8),
                                                   ENUMERATOR(S16_OP_U16_TO_S16),
                                                   ENUMERATOR(U16_OP_S16_TO_S8),
                                                   ENUMERATOR(U16_OP_S16_TO_S16),
                                                   ENUMERATOR(U16_OP_U16_TO_S8),
                                                   ENUMERATOR(U16_OP_U16_TO_S16),
                                                   ENUMERATOR(U16_OP_U16_TO_U8),
                                                   ENUMERATOR(U16_OP_U16_TO_U16),
                                                   ENUMERATOR(S16_MUL_S8_TO_S16),
                                                   ENUMERATOR(U16_MUL_S8_TO_S16),
                                                   ENUMERATOR(U16_MUL_U8_TO_U16),
                                                   ENUMERATOR(S16_MUL_U8_TO_S16)};
#undef ENUMERATOR
  return table;
}

std::optional<Dtype> find_type(const std::string& enumerator) {
  static const std::map<std::string, Dtype> table = {
      {"DT_INT8", Dtype::kInt8},       {"DT_UINT8", Dtype::kUint8},   {"DT_INT16", Dtype::kInt16},
      {"DT_UINT16", Dtype::kUint16},   {"DT_FP16", Dtype::kFp16},     {"DT_BFP16", Dtype::kBfp16},
      {"DT_INT32", Dtype::kInt32},     {"DT_UINT32", Dtype::kUint32}, {"DT_FP32", Dtype::kFp32},
      {"DT_INT4", Dtype::kInt4},       {"DT_UINT4", Dtype::kUint4},   {"DT_FP8E5M2", Dtype::kFp8E5M2},
      {"DT_FP8E4M3", Dtype::kFp8E4M3}, {"DT_FP20", Dtype::kFp20},     {"DT_TF32", Dtype::kTf32},
      {"DT_FP4", Dtype::kFp4}};
  const auto found = table.find(enumerator);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t to_bits(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_number_integer()) return static_cast<std::uint64_t>(value.get<std::int64_t>());
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  throw BadCase("a number is expected, found " + value.dump());
}

// The name and value of an object's only member.
std::pair<std::string, Json> single_member(const Json& object) {
  if (!object.is_object() || object.size() != 1) throw BadCase("one key is expected, found " + object.dump());
  return {object.begin().key(), object.begin().value()};
}

// Kinds passed by value: their C type.
const std::map<std::string, std::uint32_t>& value_kinds() {
  static const std::map<std::string, std::uint32_t> table = {
      {"i8", kI8},    {"u8", kU8},      {"i16", kI16},   {"u16", kU16},   {"i32", kI32},
      {"u32", kU32},  {"i64", kI64},    {"u64", kU64},   {"bool", kU8},   {"f32bits", kF32},
      {"enum", kI32}, {"scalar", kU32}, {"gaddr", kU64}, {"l2addr", kU64}};
  return table;
}

std::uint64_t kind_bytes(std::uint32_t kind) {
  if (kind == kI8 || kind == kU8) return 1;
  if (kind == kI16 || kind == kU16) return 2;
  if (kind == kI64 || kind == kU64) return 8;
  return 4;
}

constexpr std::size_t kMostCaseCores = 64;

bool lies_within(std::uint64_t begin, std::uint64_t size, std::uint64_t end) {
  return begin <= end && size <= end - begin;
}

// Families in which the NaN of an f32 result follows the recording machine's processor. Newer chips have one
// NaN only.
bool any_nan_will_do(const std::string& chip, const std::string& family) {
  static const std::set<std::string> chips = {"bm1684x", "bm1688"};
  static const std::set<std::string> families = {"mm_fp",    "conv_fp",  "pool_fp", "roi_pool",
                                                 "new_conv", "new_pool", "new_mm"};
  return chips.contains(chip) && families.contains(family);
}

class FamilyReader {
 public:
  FamilyReader(const Bytes& blob, const AddressBases& bases, bool nan_is_nan)
      : blob_(blob), bases_(bases), nan_is_nan_(nan_is_nan) {}

  Case read(const Json& json) {
    Case result;
    result.id = json.at("id").get<std::string>();
    result.note = json.value("note", "");
    result.deviation = json.value("deviation", "");
    result.abort = json.value("abort", false);
    result.nan_is_nan = nan_is_nan_;
    for (const Json& region : json.at("setup")) {
      result.setup.push_back(read_region(region));
      read_fill(region.at("fill"), result.setup.back());
    }
    if (bases_.l2 == 0) {
      // The chip has none: calls with such addresses are made all the same.
      std::erase_if(result.setup, [](const Region& region) { return region.space == Space::kL2; });
    }
    // A case of single instructions has `instructions` instead, one of several cores a list of calls for each.
    if (const Json* cores = find_cores(json)) {
      for (const Json& calls : *cores) {
        const std::size_t before = result.calls.size();
        for (const Json& call : calls) read_call(call, result.calls);
        result.core_calls.push_back(result.calls.size() - before);
      }
      check_cores(json, result);
    } else if (json.contains("calls") || !json.contains("instructions")) {
      for (const Json& call : json.at("calls")) read_call(call, result.calls);
    }
    if (result.calls.empty() && !json.contains("instructions")) throw BadCase("has no calls");
    if (json.contains("expect")) {
      for (const Json& region : json.at("expect")) {
        result.expect.push_back(read_region(region));
        result.expect.back().data = slice(region.at("data"), result.expect.back().bytes());
      }
    }
    return result;
  }

 private:
  static const Json* find_cores(const Json& json) {
    if (json.contains("core_calls")) return &json.at("core_calls");
    return json.contains("cores") && json.at("cores").is_array() ? &json.at("cores") : nullptr;
  }
  static void check_cores(const Json& json, const Case& result) {
    const std::size_t cores = result.core_calls.size();
    if (cores == 0 || cores > kMostCaseCores) throw BadCase(fmt::format("has {} cores", cores));
    if (json.at("cores").is_number() && json.at("cores").get<std::size_t>() != cores)
      throw BadCase("has another number of call lists than of cores");
    for (const Region& region : result.setup) {
      if (region.core >= cores) throw BadCase("a region belongs to a core that the case does not have");
    }
  }

  Region read_region(const Json& json) const {
    Region region;
    region.core = json.value("core", 0U);
    const std::string space = json.at("space").get<std::string>();
    region.addr = to_bits(json.at("addr"));
    region.size = to_bits(json.at("size"));
    region.dtype = json.value("dtype", "");
    if (space == "lmem") {
      region.space = Space::kLocal;
      region.npus = bases_.npus;
      if (json.contains("npu")) {
        const std::uint64_t first = to_bits(json.at("npu").at(0));
        const std::uint64_t count = to_bits(json.at("npu").at(1));
        if (!lies_within(first, count, bases_.npus)) throw BadCase("a region lies outside the NPUs");
        region.first_npu = static_cast<std::uint32_t>(first);
        region.npus = static_cast<std::uint32_t>(count);
      }
      if (!lies_within(region.addr, region.size, bases_.local_bytes)) {
        throw BadCase("a region lies outside local memory");
      }
    } else if (space == "gmem") {
      region.space = Space::kGlobal;
      if (!lies_within(region.addr, region.size, bases_.scratch_bytes)) {
        throw BadCase("a region lies outside the scratch block");
      }
    } else if (space == "l2" || space == "dtcm") {
      region.space = space == "l2" ? Space::kL2 : Space::kDtcm;
      if (!lies_within(region.addr, region.size, bases_.scratch_bytes)) {
        throw BadCase("a region is larger than the scratch block");
      }
    } else {
      throw BadCase("unknown space \"" + space + "\"");
    }
    return region;
  }

  Bytes slice(const Json& range, std::uint64_t bytes) const {
    const std::uint64_t offset = to_bits(range.at(0));
    const std::uint64_t length = to_bits(range.at(1));
    if (length != bytes || offset > blob_.size() || length > blob_.size() - offset) {
      throw BadCase(fmt::format("data [{}, {}] does not fit a region of {} bytes and a file of {}", offset, length,
                                bytes, blob_.size()));
    }
    const auto begin = blob_.begin() + static_cast<std::ptrdiff_t>(offset);
    return {begin, begin + static_cast<std::ptrdiff_t>(length)};
  }

  void read_fill(const Json& json, Region& region) const {
    if (json.contains("data")) {
      region.data = slice(json.at("data"), region.bytes());
      return;
    }
    Fill fill;
    fill.kind = json.at("kind").get<std::string>();
    fill.dtype = json.value("dtype", "");
    fill.value = json.value("value", 165.0);
    if (json.contains("bits")) fill.bits = to_bits(json.at("bits"));
    fill.lo = json.value("lo", 0.0);
    fill.hi = json.value("hi", 0.0);
    fill.mean = json.value("mean", 0.0);
    fill.std = json.value("std", 1.0);
    fill.start = json.value("start", 0.0);
    fill.step = json.value("step", 1.0);
    if (json.contains("seed")) fill.seed = to_bits(json.at("seed"));
    auto data = evaluate(fill, region.bytes());
    if (!data) throw BadCase(data.error().text);
    region.data = std::move(*data);
  }

  std::uint64_t value_bits(const std::string& kind, const Json& value) const {
    if (kind == "gaddr") return bases_.scratch + to_bits(value);
    if (kind == "l2addr") return bases_.l2 + to_bits(value);
    if (kind != "enum") return to_bits(value);
    const std::string name = value.get<std::string>();
    if (const auto type = find_type(name)) {
      const int number = bases_.type_numbers.number_of(*type);
      if (number < 0) throw BadCase("the chip has no number for " + name);
      return static_cast<std::uint64_t>(number);
    }
    const auto found = enumerators().find(name);
    if (found == enumerators().end()) throw BadCase("unknown enumerator " + value.dump());
    return static_cast<std::uint64_t>(found->second);
  }

  // Members of a structure with natural alignment.
  Bytes structure(const Json& members) const {
    Bytes bytes;
    for (const Json& member : members) {
      const auto [kind, value] = single_member(member);
      const std::uint64_t size = kind_bytes(value_kinds().at(kind));
      bytes.resize((bytes.size() + size - 1) / size * size + size);
      const std::uint64_t bits = value_bits(kind, value);
      std::memcpy(bytes.data() + bytes.size() - size, &bits, size);
    }
    bytes.resize((bytes.size() + 7) / 8 * 8);
    return bytes;
  }

  static Bytes integers(const Json& list) {
    Bytes bytes;
    for (const Json& value : list) {
      const auto number = static_cast<std::uint32_t>(to_bits(value));
      const auto* begin = reinterpret_cast<const std::uint8_t*>(&number);
      bytes.insert(bytes.end(), begin, begin + sizeof(number));
    }
    return bytes;
  }

  Argument read_argument(const Json& json) const {
    const auto [kind, value] = single_member(json);
    Argument argument;
    if (const auto found = value_kinds().find(kind); found != value_kinds().end()) {
      argument.kind = found->second;
      argument.value = value_bits(kind, value);
    } else if (kind == "null") {
      argument.kind = kU64;
    } else if (kind == "dim4" || kind == "dim2" || kind == "pad" || kind == "range") {
      argument.kind = kPointer;
      argument.data = integers(value);
    } else if (kind == "ptr") {
      argument.kind = kPointer;
      argument.data = structure(value);
    } else if (kind == "out_dim4" || kind == "out_dim2") {
      argument.kind = kOutPointer;
      argument.out = integers(value);
    } else if (kind == "out_i32") {
      argument.kind = kOutPointer;
      argument.out = value.is_null() ? Bytes() : integers(Json::array({value}));
    } else {
      throw BadCase("unknown kind of argument \"" + kind + "\"");
    }
    return argument;
  }

  void read_call(const Json& json, std::vector<Call>& calls) const {
    Call call;
    call.function = json.at("fn").get<std::string>();
    if (json.at("args").size() > kMaxArguments) throw BadCase("too many arguments");
    for (const Json& argument : json.at("args")) call.arguments.push_back(read_argument(argument));
    if (json.contains("ret")) read_return(json.at("ret"), call);
    const std::string& name = call.function;
    const bool counts = name.starts_with("tpu_gdma_mask_select_") || name.starts_with("tpu_gdma_nonzero_");
    if (!counts || call.arguments.empty() || !call.arguments.back().out) {
      calls.push_back(std::move(call));
      return;
    }
    // The recorded SDK returned the number of results through one more pointer; the header's SDK has a function for it.
    // Newer emulators leave the pointer alone.
    constexpr std::uint32_t kUntouched = 0xA5A5A5A5;
    Call number;
    number.function = "tpu_gdma_get_filter_num";
    if (const Bytes& content = *call.arguments.back().out; content.size() == sizeof(std::uint32_t)) {
      std::uint32_t expected = 0;
      std::memcpy(&expected, content.data(), sizeof(expected));
      if (expected != kUntouched) number.returns = expected;
    }
    number.return_mask = 0xFFFFFFFFU;
    call.arguments.pop_back();
    calls.push_back(std::move(call));
    calls.push_back(std::move(number));
  }

  void read_return(const Json& json, Call& call) const {
    const auto [kind, value] = single_member(json);
    if (value.is_null()) return;  // of a call that did not return
    if (kind == "laddr") {
      call.return_base = Base::kLocal;
      call.returns = to_bits(value.at(0)) * bases_.local_bytes + to_bits(value.at(1));
    } else if (kind == "gptr" || kind == "l2ptr") {
      call.return_base = kind == "gptr" ? Base::kGlobal : Base::kL2;
      call.returns = to_bits(value);
    } else if (kind == "range") {
      call.returns = (to_bits(value.at(0)) & 0xFFFFFFFFU) | to_bits(value.at(1)) << 32;
    } else {
      static const std::map<std::string, std::uint64_t> masks = {
          {"bool", 0xFF},      {"scalar8", 0xFF},   {"scalar16", 0xFFFF},     {"u64", ~0ULL},
          {"i32", 0xFFFFFFFF}, {"u32", 0xFFFFFFFF}, {"scalar32", 0xFFFFFFFF}, {"f32bits", 0xFFFFFFFF}};
      const auto mask = masks.find(kind);
      if (mask == masks.end()) throw BadCase("unknown kind of return \"" + kind + "\"");
      call.return_mask = mask->second;
      call.returns = to_bits(value) & mask->second;
    }
  }

  const Bytes& blob_;
  const AddressBases& bases_;
  bool nan_is_nan_;
};

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

Result<std::string> read_file(const std::string& path) { return read_text_file(path, kMostBytes); }

std::string stem(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return name.substr(0, name.find_last_of('.'));
}

}  // namespace

Result<Origin> read_origin(const std::string& json_path) {
  auto text = read_file(json_path);
  if (!text) return text.error();
  const Json json = Json::parse(text->substr(0, text->find("\"cases\"")) + "\"cases\":[]}", nullptr, false);
  if (json.is_discarded() || !json.contains("chip") || !json.at("chip").is_string()) {
    return Error{ErrorKind::kUsage, json_path + ": not a file of recorded cases"};
  }
  const bool says = json.contains("source") && json.at("source").is_string();
  return Origin{json.at("chip").get<std::string>(), says ? json.at("source").get<std::string>() : std::string()};
}

Result<Family> read_family(const std::string& json_path, const AddressBases& bases) {
  auto text = read_file(json_path);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object() || !json.contains("cases") || !json.contains("chip")) {
    return Error{ErrorKind::kUsage, json_path + ": not a file of recorded cases"};
  }
  auto blob = read_file(json_path.substr(0, json_path.size() - 4) + "bin");
  if (!blob) return blob.error();
  const Bytes bytes(blob->begin(), blob->end());
  Family family;
  family.name = stem(json_path);
  std::string id = "(first case)";
  try {
    family.chip = json.at("chip").get<std::string>();
    FamilyReader reader(bytes, bases, any_nan_will_do(family.chip, family.name));
    for (const Json& item : json.at("cases")) {
      id = item.value("id", id);
      family.cases.push_back(reader.read(item));
    }
  } catch (const std::exception& error) {  // nlohmann's type errors and BadCase
    return Error{ErrorKind::kUsage, fmt::format("{}: case {}: {}", json_path, id, error.what())};
  }
  return family;
}

}  // namespace softtpu::golden
