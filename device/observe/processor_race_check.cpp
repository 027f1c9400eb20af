// The control processor as an agent: its calls return before the engines have done their work, so a store through a
// pointer races with every command that it has not waited for. Stores are seen at the next call, as changed bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "device/memory/memories.hpp"
#include "device/observe/describe.hpp"
#include "device/observe/race_check.hpp"

namespace softtpu {
namespace {

// How far behind a pointer stores are looked for, and how many pointers are followed.
constexpr std::uint64_t kWindowBytes = 64U << 10;
constexpr std::size_t kMostWindows = 64;
constexpr std::size_t kMostPending = 1024;
constexpr std::uint64_t kWordBytes = 4;

struct Window {
  Op op;
  SpanSpace space;
  std::uint64_t begin;  // as in Span
  const std::uint8_t* memory;
  std::vector<std::uint8_t> seen;  // the memory's contents when they were last looked at
  CallStack stack;
};

struct Pending {
  Op op;
  Command command;
  CallStack stack;
};

class ProcessorRaceCheck final : public Observer {
 public:
  explicit ProcessorRaceCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    memories_ = &memories;
    findings_->begin(kernel, core);
    windows_.clear();
    pending_.clear();
  }

  void pointer(Op op, Space space, std::uint64_t address) override {
    const Chip& chip = memories_->chip();
    Window window{op, SpanSpace::kLocal, address, nullptr, {}, capture_call_stack()};
    std::uint64_t bytes = kWindowBytes;
    if (space == Space::kLocal) {
      bytes = std::min(bytes, chip.local_bytes - std::uint64_t{chip.offset_of(address)});
      window.memory = memories_->local(0) + address;
    } else {
      window.space = SpanSpace::kSystem;
      const MemoryRange& range = chip.l2_sram.contains(address) ? chip.l2_sram : chip.global_mem;
      if (!range.contains(address)) return;
      bytes = std::min(bytes, range.bytes - (address - range.start));
      window.memory = memories_->find_system(address, 1).data;
    }
    look();
    const auto same = [&](const Window& known) { return known.space == window.space && known.begin == address; };
    std::erase_if(windows_, same);
    window.seen.assign(window.memory, window.memory + bytes);
    windows_.push_back(std::move(window));
    if (windows_.size() > kMostWindows) windows_.pop_front();
  }

  void before(Op, const Command&) override { look(); }

  void after(Op op, const Command& command) override {
    // Commands of the emulator are complete when their call returns: what has changed now, they have changed.
    for (Window& window : windows_) std::memcpy(window.seen.data(), window.memory, window.seen.size());
    if (const auto* control = std::get_if<ControlCmd>(&command)) {
      const bool waits = control->action == ControlAction::kPoll || control->action == ControlAction::kSync ||
                         control->action == ControlAction::kInitialize;
      if (waits) pending_.clear();
      return;
    }
    pending_.push_back({op, command, capture_call_stack()});
    if (pending_.size() > kMostPending) pending_.pop_front();
  }

  void launch_ends(const std::string&) override {
    look();
    windows_.clear();
    findings_->report();
  }

 private:
  void look() {
    for (Window& window : windows_) {
      const std::size_t bytes = window.seen.size();
      if (std::memcmp(window.seen.data(), window.memory, bytes) == 0) continue;
      for (std::size_t at = 0; at < bytes; ++at) {
        if (window.seen[at] == window.memory[at]) continue;
        const std::size_t first = at;
        while (at < bytes && window.seen[at] != window.memory[at]) ++at;
        // Whole words: of a number's bytes only some may have changed.
        const std::uint64_t begin = (window.begin + first) / kWordBytes * kWordBytes;
        stored(window, begin, (window.begin + at + kWordBytes - 1) / kWordBytes * kWordBytes);
      }
      std::memcpy(window.seen.data(), window.memory, bytes);
    }
  }

  // The latest pending command that uses the bytes is the one to wait for.
  void stored(const Window& window, std::uint64_t first, std::uint64_t last) {
    for (auto command = pending_.rbegin(); command != pending_.rend(); ++command) {
      bool hit = false;
      for_each_tensor(command->command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
        for_each_span(memories_->chip(), tensor, [&](const Span& span) {
          if (hit || span.space != window.space || span.begin >= last || span.end <= first) return;
          hit = true;
          report(window, *command, {command->op, name, access != Access::kRead, &tensor}, std::max(first, span.begin),
                 std::min(last, span.end));
        });
      });
      if (hit) return;
    }
  }

  void report(const Window& window, const Pending& command, const CallOperand& call, std::uint64_t first,
              std::uint64_t last) {
    Finding finding;
    finding.rule = "race/processor";
    finding.place = place_of(memories_->chip(), window.space, first, last);
    finding.what = fmt::format("the kernel stores into {} while {} may still use it", finding.place->text(),
                               info(command.op).name);
    const std::string function(info(window.op).name);
    finding.parties = {{function, function + " gave the pointer", window.stack, {}},
                       party_of(memories_->chip(), call, window.space, first, command.stack)};
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  const Memories* memories_ = nullptr;
  std::deque<Window> windows_;
  std::deque<Pending> pending_;  // commands since the kernel last waited for the engines
};

}  // namespace

std::shared_ptr<Observer> make_processor_race_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<ProcessorRaceCheck>(std::move(findings));
}

}  // namespace softtpu
