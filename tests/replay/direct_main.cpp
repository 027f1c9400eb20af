// Replays recorded cases on a core in this process, without server and sockets: the quick loop while an operation is
// written. Usage: replay_direct [-v] [-f TEXT] PATH...   (PATH: a family's .json or a folder; TEXT: part of a case id)
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "device/core/core.hpp"
#include "tests/replay/kernel/script.hpp"
#include "tests/replay/replayer.hpp"

extern "C" void softtpu_replay(const void* argument);

namespace softtpu::replay {
namespace {

class DirectTarget final : public Target {
 public:
  DirectTarget(Memories& memories) : memories_(memories), core_(memories, 0) {}  // NOLINT

  AddressBases bases() const override {
    const Chip& chip = memories_.chip();
    return {chip.global_mem.start + chip.global_reserved, chip.l2_sram.start, chip.local_bytes,
            static_cast<std::uint32_t>(chip.npu_num)};
  }
  std::string chip() const override { return memories_.chip().name; }
  Result<std::uint64_t> buffer(std::uint64_t) override { return bases().scratch + (64U << 20); }
  Result<void> write(std::uint64_t addr, const void* data, std::uint64_t bytes) override {
    std::memcpy(memories_.global() + (addr - memories_.chip().global_mem.start), data, bytes);
    return {};
  }
  Result<void> read(std::uint64_t addr, void* data, std::uint64_t bytes) override {
    std::memcpy(data, memories_.global() + (addr - memories_.chip().global_mem.start), bytes);
    return {};
  }
  Result<void> launch(const void* arguments, std::uint64_t) override {
    const LaunchOutcome outcome = core_.run(softtpu_replay, "softtpu_replay", arguments);
    if (outcome.ok) return {};
    return Error{outcome.kind, outcome.text};
  }

 private:
  Memories& memories_;
  Core core_;
};

struct Counts {
  int passed = 0, failed = 0, skipped = 0;
};

Counts run_file(const std::string& path, const std::string& filter, bool verbose) {
  Counts counts;
  const auto chip_name = read_chip_name(path);
  if (!chip_name) return fmt::print("{}\n", chip_name.error().text), counts;
  const auto chip = load_chip(*chip_name);
  auto memories = Memories::create(*chip);
  if (!memories) return fmt::print("{}\n", memories.error().text), counts;
  DirectTarget target(**memories);
  const auto family = read_family(path, target.bases());
  if (!family) {
    fmt::print("{}\n", family.error().text);
    counts.failed = 1;
    return counts;
  }
  Replayer replayer(target);
  std::map<std::string, int> shown;
  for (const Case& recorded : family->cases) {
    if (recorded.id.find(filter) == std::string::npos) continue;
    const CaseResult result = replayer.run(recorded);
    if (result.verdict == Verdict::kPassed) ++counts.passed;
    if (result.verdict == Verdict::kSkipped) ++counts.skipped;
    if (result.verdict != Verdict::kFailed) continue;
    ++counts.failed;
    const std::string& function = recorded.calls.back().function;
    if (verbose && shown[function]++ < 3) {
      fmt::print("  {} ({}) {}: {}\n", recorded.id, recorded.note, function, result.text);
    } else if (shown[function]++ == 0) {
      fmt::print("  {} {}: {}\n", recorded.id, function, result.text.substr(0, result.text.find('\n')));
    }
  }
  fmt::print("{:<12} {:<24} {} passed, {} failed, {} skipped\n", family->chip, family->name, counts.passed,
             counts.failed, counts.skipped);
  return counts;
}

int run(int argc, char** argv) {
  bool verbose = false;
  std::string filter;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-v") {
      verbose = true;
    } else if (word == "-f" && i + 1 < argc) {
      filter = argv[++i];
    } else if (std::filesystem::is_directory(word)) {
      for (const auto& entry : std::filesystem::directory_iterator(word)) {
        if (entry.path().extension() == ".json") files.push_back(entry.path().string());
      }
    } else {
      files.push_back(word);
    }
  }
  std::sort(files.begin(), files.end());
  Counts total;
  for (const std::string& file : files) {
    const Counts counts = run_file(file, filter, verbose);
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.skipped += counts.skipped;
  }
  fmt::print("{} passed, {} failed, {} skipped\n", total.passed, total.failed, total.skipped);
  return total.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace softtpu::replay

int main(int argc, char** argv) { return softtpu::replay::run(argc, argv); }
