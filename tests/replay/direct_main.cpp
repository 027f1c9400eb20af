// Replays recorded cases on a core in this process, without server and sockets: the quick loop while an operation is
// written. The settings choose loops, instruction set and observers (SOFTTPU_TRACE, SOFTTPU_CHECK).
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "device/core/core.hpp"
#include "device/core/execution.hpp"
#include "device/observers/device_observers.hpp"
#include "runtime/base/config.hpp"
#include "tools/golden/kernel/script.hpp"
#include "tools/golden/session.hpp"

extern "C" void softtpu_replay(const void* argument);

namespace softtpu::golden {
namespace {

class DirectTarget final : public Target {
 public:
  DirectTarget(std::unique_ptr<Memories> memories, const DeviceObservers& observers)
      : memories_(std::move(memories)), core_(*memories_, 0) {
    for (const auto& observer : observers.list) core_.add_observer(observer);
  }

  AddressBases bases() const override {
    const Chip& chip = memories_->chip();
    return {chip.global_mem.start + chip.global_reserved, chip.l2_sram.start, chip.local_bytes,
            static_cast<std::uint32_t>(chip.npu_num),     kScratchBytes,      chip.type_numbers};
  }
  std::string chip() const override { return memories_->chip().name; }
  Result<std::uint64_t> buffer(std::uint64_t) override { return bases().scratch + 4 * kScratchBytes; }
  Result<void> write(std::uint64_t addr, const void* data, std::uint64_t bytes) override {
    std::memcpy(memories_->global() + (addr - memories_->chip().global_mem.start), data, bytes);
    return {};
  }
  Result<void> read(std::uint64_t addr, void* data, std::uint64_t bytes) override {
    std::memcpy(data, memories_->global() + (addr - memories_->chip().global_mem.start), bytes);
    return {};
  }
  Result<void> launch(const void* arguments, std::uint64_t, std::size_t cores) override {
    if (cores > 1) return launch_on_cores(arguments, static_cast<int>(cores));
    const LaunchOutcome outcome = core_.run(softtpu_replay, "softtpu_replay", arguments);
    if (outcome.ok) return {};
    return Error{outcome.kind, outcome.text};
  }

 private:
  // Each core is a thread with a local memory of its own. There are no observers.
  Result<void> launch_on_cores(const void* arguments, int cores) {
    const Chip& chip = memories_->chip();
    if (cores > chip.cores) {
      return Error{ErrorKind::kUsage,
                   fmt::format("the case has {} cores, chip {} has {}", cores, chip.name, chip.cores)};
    }
    while (static_cast<int>(others_.size()) + 1 < cores) {
      auto memories = memories_->make_for_core(static_cast<int>(others_.size()) + 1);
      if (!memories) return memories.error();
      others_.push_back(std::move(*memories));
    }
    page_->reset(cores, false);
    std::vector<LaunchOutcome> outcomes(static_cast<std::size_t>(cores));
    std::vector<std::thread> threads;
    for (int i = 0; i < cores; ++i) {
      threads.emplace_back([&, i] {
        Core core(i == 0 ? *memories_ : *others_[static_cast<std::size_t>(i - 1)], i);
        core.set_launch({{.page_number = 1, .workitem = i, .workitems = cores}, 0, page_.get()});
        page_->begin(i, false);
        outcomes[static_cast<std::size_t>(i)] = core.run(softtpu_replay, "softtpu_replay", arguments);
        page_->end(i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::string text;
    for (const LaunchOutcome& outcome : outcomes) {
      if (!outcome.ok) text += (text.empty() ? "" : "; ") + outcome.text;
    }
    if (text.empty()) return {};
    return Error{ErrorKind::kUsage, text};
  }

  std::unique_ptr<Memories> memories_;
  std::vector<std::unique_ptr<Memories>> others_;  // of the cores but the first
  std::unique_ptr<LaunchPage> page_ = std::make_unique<LaunchPage>();
  Core core_;
};

Result<std::unique_ptr<Target>> make_target(const std::string& chip_name, const Settings& settings) {
  const auto chip = load_chip(chip_name);
  if (!chip) return chip.error();
  const auto observers = make_observers(settings, *chip);
  if (!observers) return observers.error();
  auto memories = Memories::create(*chip);
  if (!memories) return memories.error();
  return std::unique_ptr<Target>(std::make_unique<DirectTarget>(std::move(*memories), *observers));
}

}  // namespace
}  // namespace softtpu::golden

int main(int argc, char** argv) {
  softtpu::golden::SessionOptions options;
  CLI::App app("Replays recorded cases on a core in this process.");
  app.add_option("path", options.paths, "Family files (*.json) or folders of them")->required();
  app.add_option("--chip", options.chip, "Chip or chip file to run on (default: the recorded chip and revision)");
  app.add_option("-f,--filter", options.filter, "Only cases whose id contains this text");
  app.add_option("--function", options.function, "Only cases that call this function");
  app.add_option("-n,--failures", options.shown_failures, "Failures shown for each function")->capture_default_str();
  app.add_flag("-v,--verbose", options.details, "Show the differing elements");
  app.add_flag("-s,--skipped", options.list_skipped, "List the skipped cases");
  std::string ledger;
  app.add_option("--ledger", ledger, "Write the counts for each function to this JSON file");
  CLI11_PARSE(app, argc, argv);
  const auto settings = softtpu::read_settings();
  if (!settings) {
    std::fprintf(stderr, "%s\n", settings.error().text.c_str());
    return 2;
  }
  if (const auto chosen = softtpu::choose_execution(*settings); !chosen) {
    std::fprintf(stderr, "%s\n", chosen.error().text.c_str());
    return 2;
  }
  const auto result = softtpu::golden::run_session(
      options, [&](const std::string& chip) { return softtpu::golden::make_target(chip, *settings); });
  if (!ledger.empty() && !softtpu::golden::write_ledger(ledger, result)) return 1;
  return result.total.failed == 0 ? 0 : 1;
}
