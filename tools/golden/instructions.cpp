#include "tools/golden/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "device/command/instruction_scope.hpp"
#include "device/core/core.hpp"
#include "device/instruction/address.hpp"
#include "device/instruction/translate.hpp"
#include "runtime/base/text.hpp"
#include "tools/golden/case.hpp"
#include "tools/golden/lists.hpp"

namespace softtpu::golden {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view kDiffers = "differs";
constexpr std::uint8_t kBackground = 0xA5;
constexpr std::size_t kOkkInstructionBytes = 128;
constexpr std::uint64_t kClearedScratch = 2U << 20;  // before a single instruction

std::optional<Bytes> from_hex(std::string_view digits) {
  Bytes bytes(digits.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* at = digits.data() + 2 * i;
    if (std::from_chars(at, at + 2, bytes[i], 16).ptr != at + 2) return std::nullopt;
  }
  return bytes;
}

// What is known not to be as recorded: "FILE ID" and why.
const std::map<std::string, std::string>& known_differences() {
  static const auto rows = [] {
    std::map<std::string, std::string> all;
    std::istringstream text{std::string(embedded_list("known_instructions.txt"))};
    for (std::string line; std::getline(text, line);) {
      const std::size_t bar = line.find(" | ");
      if (!line.empty() && line[0] != '#' && bar != std::string::npos) all[line.substr(0, bar)] = line.substr(bar + 3);
    }
    return all;
  }();
  return rows;
}

// One case carried out.
struct Outcome {
  std::string text;     // empty: as recorded; a refusal's first line; "differs"
  std::string details;  // where it differs
  std::string format;   // of the last instruction: "sAR.add"
};

class Runner {
 public:
  Runner(std::unique_ptr<Memories> memories, const stream::InstructionSet& set, std::uint64_t scratch, bool single)
      : memories_(std::move(memories)), set_(set), core_(*memories_, 0), scratch_(scratch), single_(single) {}

  Outcome run(const Case& recorded, const Json& instructions) {
    case_ = &recorded;
    instructions_ = &instructions;
    outcome_ = {};
    Runner* self = this;
    const auto done = core_.run([](const void* of) { (*static_cast<Runner* const*>(of))->kernel(); }, "stream", &self);
    if (outcome_.text.empty() && !done.ok) outcome_.text = done.text.substr(0, done.text.find('\n'));
    if (outcome_.text.empty()) compare();
    return outcome_;
  }

 private:
  void kernel() {
    if (single_) {
      std::memset(memories_->local(0), kBackground, memories_->chip().local_mem.bytes);
      std::memset(scratch(), kBackground, kClearedScratch);
    }
    for (const Region& region : case_->setup) {
      for (std::uint32_t i = 0; i < region.npus; ++i)
        std::memcpy(place(region, i), region.data.data() + i * region.size, region.size);
    }
    stream::Translator translator(memories_->chip());
    for (const Json& entry : *instructions_) {
      const stream::Unit unit = entry.at(0) == "TIU"    ? stream::Unit::kTiu
                                : entry.at(0) == "SDMA" ? stream::Unit::kSdma
                                                        : stream::Unit::kDma;
      const auto bytes = from_hex(entry.at(1).get_ref<const std::string&>());
      if (!bytes) return void(outcome_.text = "the recording holds no instruction");
      auto decoded = stream::decode(set_, unit, whole(*bytes, unit));
      if (!decoded) return void(outcome_.text = decoded.error().text);
      if (const auto again = stream::encode(*decoded); !again || !same_bytes(*again, *bytes))
        return void(outcome_.text = "its fields do not give its bytes again");
      outcome_.format =
          fmt::format("{}.{}", decoded->format->name, decoded->format->function_name(decoded->function()));
      if (const auto resolved = stream::resolve_addresses(memories_->chip(), *decoded, {}); !resolved)
        return void(outcome_.text = resolved.error().text);
      const auto issued = translator.translate(*decoded);
      if (!issued) return void(outcome_.text = issued.error().text);
      if (!*issued) continue;
      const InstructionScope instructions;
      std::visit([&](const auto& command) { core_.submit((*issued)->op, command); }, (*issued)->command);
    }
  }

  // Recordings of BM1684 leave out what follows the last field of a DMA instruction.
  Bytes whole(const Bytes& recorded, stream::Unit unit) const {
    Bytes bytes = recorded;
    if (!set_.has_end() && unit != stream::Unit::kTiu) bytes.resize(kOkkInstructionBytes);
    return bytes;
  }
  static bool same_bytes(const Bytes& encoded, const Bytes& recorded) {
    return encoded.size() >= recorded.size() && std::equal(recorded.begin(), recorded.end(), encoded.begin());
  }

  void compare() {
    for (const Region& region : case_->expect) compare(region);
    if (single_ && outcome_.text.empty()) find_stray();
  }
  void differs(std::string details) {
    outcome_.text = kDiffers;
    outcome_.details = std::move(details);
  }
  void compare(const Region& region) {
    for (std::uint32_t i = 0; i < region.npus && outcome_.text.empty(); ++i) {
      const std::uint8_t* got = place(region, i);
      const std::uint8_t* want = region.data.data() + i * region.size;
      for (std::uint64_t at = 0; at < region.size; ++at) {
        if (got[at] == want[at]) continue;
        if (case_->nan_is_nan && region.dtype == "f32" && both_nan(got + at / 4 * 4, want + at / 4 * 4)) continue;
        return differs(fmt::format("NPU {}, byte {:#x}: {:02x}, expected {:02x}", region.first_npu + i,
                                   region.addr + at, got[at], want[at]));
      }
    }
  }
  // What no region of the case names has to be as it was.
  void find_stray() {
    for (const auto* regions : {&case_->setup, &case_->expect}) {
      for (const Region& region : *regions) {
        for (std::uint32_t i = 0; i < region.npus; ++i) {
          if (region.space == Space::kLocal || region.addr < kClearedScratch)
            std::memset(place(region, i), kBackground, region.size);
        }
      }
    }
    const auto find = [](const std::uint8_t* begin, std::uint64_t bytes) {
      const bool same = *begin == kBackground && std::memcmp(begin, begin + 1, bytes - 1) == 0;
      const auto* end = begin + bytes;
      return same ? bytes
                  : static_cast<std::uint64_t>(std::find_if(begin, end, [](auto b) { return b != kBackground; }) -
                                               begin);
    };
    const Chip& chip = memories_->chip();
    if (const auto at = find(memories_->local(0), chip.local_mem.bytes); at != chip.local_mem.bytes)
      return differs(fmt::format("NPU {}, byte {:#x} changed", at / chip.local_bytes, at % chip.local_bytes));
    if (const auto at = find(scratch(), kClearedScratch); at != kClearedScratch)
      differs(fmt::format("scratch byte {:#x} changed", at));
  }

  std::uint8_t* scratch() const { return memories_->global() + (scratch_ - memories_->chip().global_mem.start); }
  std::uint8_t* place(const Region& region, std::uint32_t i) const {
    if (region.space == Space::kLocal) return memories_->local(static_cast<int>(region.first_npu + i)) + region.addr;
    return (region.space == Space::kL2 ? memories_->l2() : scratch()) + region.addr;
  }
  static bool both_nan(const std::uint8_t* a, const std::uint8_t* b) {
    float x = 0;
    float y = 0;
    std::memcpy(&x, a, sizeof(x));
    std::memcpy(&y, b, sizeof(y));
    return x != x && y != y;
  }

  std::unique_ptr<Memories> memories_;
  const stream::InstructionSet& set_;
  Core core_;
  std::uint64_t scratch_;
  bool single_;
  const Case* case_ = nullptr;
  const Json* instructions_ = nullptr;
  Outcome outcome_;
};

class Session {
 public:
  explicit Session(const InstructionOptions& options) : options_(options) {}

  void run(const std::string& file) {
    try {
      if (const std::string text = try_run(file); !text.empty()) complain(file + ": " + text);
    } catch (const nlohmann::json::exception& error) {
      complain(fmt::format("{}: {}", file, error.what()));
    }
  }

  InstructionResult finish() {
    for (const auto& [format, counts] : result_.formats)
      fmt::print("  {:<28} {}\n", escape_controls(format), to_text(counts));
    fmt::print("{}\n", to_text(result_.total));
    if (!options_.write_list.empty()) std::ofstream(options_.write_list, std::ios::app) << list_;
    return std::move(result_);
  }

 private:
  void complain(const std::string& text) {
    fmt::print(stderr, "{}\n", escape_controls(text));
    ++result_.total.failed;
  }

  // What is wrong with the file itself.
  std::string try_run(const std::string& file) {
    const Json json = Json::parse(std::ifstream(file));
    const auto chip_name = json.at("chip").get<std::string>();
    const auto* set = stream::InstructionSet::find_chip(chip_name);
    if (set == nullptr) return fmt::format("instructions of {} are not known", chip_name);
    const auto scratch = json.at("scratch").get<std::uint64_t>();
    const Json& cases = json.at("cases");
    const bool single = cases.is_array();
    auto chip = load_chip(chip_name);
    if (!chip) return chip.error().text;
    const AddressBases bases{scratch,           chip->l2_sram.start,
                             chip->local_bytes, static_cast<std::uint32_t>(chip->npu_num),
                             kScratchBytes,     chip->type_numbers};
    const fs::path path(file);
    const fs::path recorded_in =
        options_.cases.empty()
            ? fs::absolute(path).parent_path().parent_path().parent_path().parent_path() / "golden" / chip_name
            : fs::path(options_.cases);
    const auto family = read_family(single ? file : (recorded_in / path.filename()).string(), bases);
    if (!family) return family.error().text;
    auto memories = Memories::create(*chip);
    if (!memories) return memories.error().text;
    if (!chip->global_mem.contains(scratch) || !chip->global_mem.contains(scratch + kScratchBytes - 1))
      return fmt::format("scratch {:#x} lies outside global memory", scratch);
    Runner runner(std::move(*memories), *set, scratch, single);
    InstructionCounts counts;
    for (std::size_t i = 0; i < family->cases.size(); ++i) {
      const Case& recorded = family->cases[i];
      if (recorded.id.find(options_.filter) == std::string::npos) continue;
      if (!options_.note.empty() && recorded.note != options_.note) continue;
      if (!single && !cases.contains(recorded.id)) continue;
      // Of several cores: tests/replay carries out networks on them.
      if (!single && cases.at(recorded.id).is_object()) continue;
      const Outcome outcome = runner.run(recorded, single ? cases.at(i).at("instructions") : cases.at(recorded.id));
      const InstructionCounts one = judge(chip_name, family->name, recorded, outcome);
      counts.add(one);
      result_.formats[outcome.format.empty() ? "not decoded" : outcome.format].add(one);
    }
    fmt::print("{:<8} {:<24} {}\n", escape_controls(chip_name), escape_controls(family->name), to_text(counts));
    std::fflush(stdout);
    result_.total.add(counts);
    return {};
  }

  InstructionCounts judge(const std::string& chip, const std::string& file, const Case& recorded,
                          const Outcome& outcome) {
    // Of the first chip there are no others.
    const std::string key = (chip == "bm1684x" ? "" : chip + "/") + file + " " + recorded.id;
    const auto known = known_differences().find(key);
    const bool listed = known != known_differences().end();
    if (outcome.text.empty()) {
      if (!listed) return {1, 0, 0, 0};
      return fail(key, outcome.format, "it is as recorded: take it off known_instructions.txt");
    }
    if (!recorded.deviation.empty()) return {0, 0, 0, 1};
    list_ += fmt::format("{} | {}: {}\n", key, outcome.format, outcome.text);
    const std::string text = fmt::format("{}: {}", outcome.format, outcome.text);
    // A difference may have its reason behind it.
    const bool same =
        listed && (known->second == text || (outcome.text == kDiffers && known->second.starts_with(text)));
    if (!same) return fail(key, outcome.format, outcome.details.empty() ? outcome.text : outcome.details);
    if (options_.list_known) {
      const std::string where = outcome.details.empty() ? "" : fmt::format(" ({})", outcome.details);
      fmt::print("{}", escape_controls(fmt::format("  known {} {}{}\n", key, known->second, where)));
    }
    return {0, 0, 1, 0};
  }

  InstructionCounts fail(const std::string& key, const std::string& format, const std::string& text) {
    if (shown_[format]++ < options_.shown_failures)
      fmt::print("{}", escape_controls(fmt::format("  failed {} {}: {}\n", key, format, text)));
    return {0, 1, 0, 0};
  }

  const InstructionOptions& options_;
  InstructionResult result_;
  std::map<std::string, int> shown_;
  std::string list_;
};

}  // namespace

std::string to_text(const InstructionCounts& counts) {
  std::string text = fmt::format("{} passed, {} failed", counts.passed, counts.failed);
  if (counts.skipped != 0) text += fmt::format(", {} skipped", counts.skipped);
  if (counts.known != 0) text += fmt::format(", {} known to differ or refused", counts.known);
  return text;
}

bool holds_instructions(const std::string& file) {
  constexpr std::size_t kHead = 4096;
  std::string head(kHead, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), kHead);
  head.resize(static_cast<std::size_t>(stream.gcount()));
  return head.substr(0, head.find("\"cases\"")).find("\"scratch\"") != std::string::npos;
}

InstructionResult run_instructions(const InstructionOptions& options) {
  Session session(options);
  for (const std::string& file : options.files) session.run(file);
  return session.finish();
}

}  // namespace softtpu::golden
