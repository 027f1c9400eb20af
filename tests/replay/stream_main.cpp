// Replays the instructions behind recorded API calls (golden-bmodel, folder api) on a core in this process: the case's
// setup, the instructions in place of its calls, its expected bytes.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "device/core/core.hpp"
#include "device/stream/translate.hpp"
#include "device/golden/case.hpp"

namespace softtpu::replay {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

std::vector<std::uint8_t> from_hex(const std::string& digits) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

struct Options {
  std::string golden, streams, filter, note;
  bool details = false;
};

struct Tally {
  int passed = 0, failed = 0, skipped = 0;
};

class Runner {
 public:
  Runner(std::unique_ptr<Memories> memories, std::uint64_t scratch, bool details)
      : memories_(std::move(memories)), core_(*memories_, 0), scratch_(scratch), details_(details) {}

  const Chip& chip() const { return memories_->chip(); }

  // Empty: every byte is as recorded; else what differs.
  std::string run(const Case& recorded, const Json& instructions) {
    case_ = &recorded;
    instructions_ = &instructions;
    refusal_.clear();
    const auto outcome = core_.run([](const void* self) { (*static_cast<Runner* const*>(self))->kernel(); }, "stream",
                                   (self_ = this, &self_));
    if (!refusal_.empty()) return refusal_;
    if (!outcome.ok) return outcome.text.substr(0, outcome.text.find('\n'));
    for (const Region& region : recorded.expect) {
      if (std::string text = difference(region); !text.empty()) return text;
    }
    return single_ ? stray() : std::string();
  }
  void single(bool on) { single_ = on; }

  // Which formats the last case used.
  std::string last_format;

 private:
  // Single instructions: memory holds 0xA5 before, and what is not expected to change keeps it.
  void clear() {
    std::memset(memories_->local(0), kBackground, chip().local_mem.bytes);
    std::memset(memories_->global() + (scratch_ - chip().global_mem.start), kBackground, kClearedScratch);
  }
  std::string stray() {
    for (const auto* regions : {&case_->setup, &case_->expect}) {
      for (const Region& region : *regions) {
        for (std::uint32_t i = 0; i < region.npus; ++i) {
          if (region.space == Space::kLocal || region.addr < kClearedScratch)
            std::memset(place(region, i), kBackground, region.size);
        }
      }
    }
    const auto find = [](const std::uint8_t* begin, std::uint64_t bytes) -> std::int64_t {
      if (*begin == kBackground && std::memcmp(begin, begin + 1, bytes - 1) == 0) return -1;
      for (std::uint64_t i = 0; i < bytes; ++i) {
        if (begin[i] != kBackground) return static_cast<std::int64_t>(i);
      }
      return -1;
    };
    if (const auto at = find(memories_->local(0), chip().local_mem.bytes); at >= 0) {
      return fmt::format("NPU {}, byte {:#x} changed", at / chip().local_bytes, at % chip().local_bytes);
    }
    if (const auto at = find(memories_->global() + (scratch_ - chip().global_mem.start), kClearedScratch); at >= 0) {
      return fmt::format("scratch byte {:#x} changed", at);
    }
    return {};
  }
  static constexpr std::uint8_t kBackground = 0xA5;
  static constexpr std::uint64_t kClearedScratch = 2U << 20;

  void kernel() {
    if (single_) clear();
    for (const Region& region : case_->setup) {
      for (std::uint32_t i = 0; i < region.npus; ++i) {
        std::memcpy(place(region, i), region.data.data() + i * region.size, region.size);
      }
    }
    last_format.clear();
    for (const Json& entry : *instructions_) {
      const stream::Unit unit = entry.at(0) == "TIU" ? stream::Unit::kTiu : stream::Unit::kDma;
      const auto bytes = from_hex(entry.at(1).get<std::string>());
      const auto decoded = stream::decode(stream::InstructionSet::bm1684x(), unit, bytes);
      if (!decoded) return void(refusal_ = decoded.error().text);
      last_format = fmt::format("{}.{}", decoded->format->name, decoded->function());
      const auto issued = stream::translate(chip(), *decoded);
      if (!issued) return void(refusal_ = issued.error().text);
      std::visit([&](const auto& command) { core_.submit(issued->op, command); }, issued->command);
    }
  }

  std::uint8_t* place(const Region& region, std::uint32_t i) const {
    if (region.space == Space::kLocal) return memories_->local(static_cast<int>(region.first_npu + i)) + region.addr;
    if (region.space == Space::kL2) return memories_->l2() + region.addr;
    return memories_->global() + (scratch_ - chip().global_mem.start) + region.addr;
  }

  std::string difference(const Region& region) const {
    const auto* case_nan = case_;
    for (std::uint32_t i = 0; i < region.npus; ++i) {
      const std::uint8_t* got = place(region, i);
      const std::uint8_t* want = region.data.data() + i * region.size;
      for (std::uint64_t at = 0; at < region.size; ++at) {
        if (got[at] == want[at]) continue;
        if (case_nan->nan_is_nan && region.dtype == "f32" && both_nan(got + at / 4 * 4, want + at / 4 * 4)) continue;
        return fmt::format("NPU {}, byte {:#x}: {:02x}, expected {:02x}", region.first_npu + i, region.addr + at,
                           got[at], want[at]);
      }
    }
    return {};
  }
  static bool both_nan(const std::uint8_t* a, const std::uint8_t* b) {
    float x = 0;
    float y = 0;
    std::memcpy(&x, a, sizeof(x));
    std::memcpy(&y, b, sizeof(y));
    return x != x && y != y;
  }

  std::unique_ptr<Memories> memories_;
  Core core_;
  std::uint64_t scratch_;
  bool details_;
  bool single_ = false;
  const Case* case_ = nullptr;
  const Json* instructions_ = nullptr;
  Runner* self_ = nullptr;
  std::string refusal_;
};

int run(const Options& options) {
  constexpr std::uint64_t kScratch = 0x104000000;
  auto chip = load_chip("bm1684x");
  auto memories = Memories::create(*chip);
  if (!memories) return 2;
  Runner runner(std::move(*memories), kScratch, options.details);
  const AddressBases bases{kScratch, chip->l2_sram.start, chip->local_bytes, static_cast<std::uint32_t>(chip->npu_num)};
  Tally total;
  std::map<std::string, int> reasons;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(options.streams)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (file.extension() != ".json" || file.filename() == "index.json") continue;
    const Json json = Json::parse(std::ifstream(file));
    const bool single = json.at("cases").is_array();
    runner.single(single);
    const auto family = read_family(single ? file.string() : options.golden + "/" + file.filename().string(), bases);
    if (!family) {
      fmt::print("{}\n", family.error().text);
      return 2;
    }
    Tally tally;
    for (std::size_t i = 0; i < family->cases.size(); ++i) {
      const Case& recorded = family->cases[i];
      if (recorded.id.find(options.filter) == std::string::npos) continue;
      if (!options.note.empty() && recorded.note != options.note) continue;
      const Json& cases = json.at("cases");
      if (!single && !cases.contains(recorded.id)) continue;
      const std::string text = runner.run(recorded, single ? cases[i].at("instructions") : cases.at(recorded.id));
      if (!text.empty() && !recorded.deviation.empty()) {
        ++tally.skipped;
        continue;
      }
      ++(text.empty() ? tally.passed : tally.failed);
      if (text.empty()) continue;
      ++reasons[runner.last_format];
      if (options.details) fmt::print("{} [{}]: {}\n", recorded.id, runner.last_format, text);
    }
    fmt::print("{:<24} {:>6} passed {:>6} failed {:>6} skipped\n", family->name, tally.passed, tally.failed,
               tally.skipped);
    total.skipped += tally.skipped;
    total.passed += tally.passed;
    total.failed += tally.failed;
  }
  for (const auto& [format, count] : reasons) fmt::print("  {:<24} {}\n", format, count);
  fmt::print("{} passed, {} failed, {} skipped\n", total.passed, total.failed, total.skipped);
  return total.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace softtpu::replay

int main(int argc, char** argv) {
  softtpu::replay::Options options;
  CLI::App app{"Replays the instructions behind recorded API calls."};
  app.add_option("golden", options.golden, "folder of the recorded cases")->required();
  app.add_option("streams", options.streams, "folder of their instructions")->required();
  app.add_option("-f,--filter", options.filter, "only cases whose id contains this");
  app.add_option("-n,--note", options.note, "only cases with this note");
  app.add_flag("-v,--verbose", options.details, "every failure");
  CLI11_PARSE(app, argc, argv);
  return softtpu::replay::run(options);
}
