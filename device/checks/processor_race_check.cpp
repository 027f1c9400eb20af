// The control processor as an agent: its calls return before the engines have done their work, so a store through a
// pointer races with every command that it has not waited for, and a load with every one that writes. Stores are seen
// at the next call, as changed bytes. Loads are seen as touches of closed pages: between calls, the pages that hold
// bytes which commands still write, and which the kernel has a pointer to, are closed.
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/checks/page_guard.hpp"
#include "device/checks/race_check.hpp"
#include "device/chip/rules.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/isa/message_engine.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

// How far behind a pointer stores are looked for, and how many pointers are followed.
constexpr std::uint64_t kWindowBytes = 64U << 10;
constexpr std::size_t kMostWindows = 64;
constexpr std::size_t kMostPending = 1024;
constexpr std::uint64_t kWordBytes = 4;
// How far behind a pointer loads are looked for.
constexpr std::uint64_t kReachBytes = 16U << 20;
constexpr std::size_t kMostGuarded = 64;

struct Window {
  Op op;
  SpanSpace space;
  std::uint64_t begin;  // as in Span
  const std::uint8_t* memory;
  std::uint64_t reach;             // bytes from `begin` that the pointer is for
  std::vector<std::uint8_t> seen;  // the memory's contents when they were last looked at
  CallStack stack;
};

// Bytes of this process's memory.
struct Bytes {
  const std::uint8_t* begin;
  std::uint64_t count;
};

struct Pending {
  Op op;
  Command command;
  CallStack stack;
};

class ProcessorRaceCheck final : public Observer {
 public:
  ProcessorRaceCheck(std::shared_ptr<Findings> findings, bool sees_loads)
      : findings_(std::move(findings)), sees_loads_(sees_loads) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    memories_ = &memories;
    findings_->begin(kernel, core);
    windows_.clear();
    pending_.clear();
    guarded_.clear();
    // Where other threads of a program use the memory too, closed pages could harm them.
    guards_ = sees_loads_ && ::syscall(SYS_gettid) == ::getpid();
  }

  void pointer(Op op, Space space, std::uint64_t address) override {
    const Chip& chip = memories_->chip();
    Window window{op, SpanSpace::kLocal, address, nullptr, kReachBytes, {}, capture_call_stack()};
    if (space == Space::kLocal) {
      window.reach = chip.local_bytes - std::uint64_t{chip.offset_of(address)};
      window.memory = memories_->local(0) + address;
    } else {
      window.space = SpanSpace::kSystem;
      const MemoryRange& range = chip.l2_sram.contains(address) ? chip.l2_sram : chip.global_mem;
      if (!range.contains(address)) return;
      window.reach = std::min(kReachBytes, range.bytes - (address - range.start));
      window.memory = memories_->find_system(address, 1).data;
    }
    look();
    const auto same = [&](const Window& known) { return known.space == window.space && known.begin == address; };
    std::erase_if(windows_, same);
    window.seen.assign(window.memory, window.memory + std::min(window.reach, kWindowBytes));
    windows_.push_back(std::move(window));
    if (windows_.size() > kMostWindows) windows_.pop_front();
    for (const Pending& command : pending_) guard(command, windows_.back());
    close();
  }

  void before(Op, const Command&) override { look(); }

  void after(Op op, const Command& command) override {
    // Commands of the emulator are complete when their call returns: what has changed now, they have changed.
    for (Window& window : windows_) std::memcpy(window.seen.data(), window.memory, window.seen.size());
    if (const auto* control = std::get_if<ControlCmd>(&command)) {
      finish([&](const Pending& known) { return waits_for(op, *control, info(known.op).engine); });
      return close();
    }
    // No code of a kernel runs between the instructions of a network.
    if (submits_instructions() && windows_.empty()) return;
    pending_.push_back({op, command, capture_call_stack()});
    if (pending_.size() > kMostPending) pending_.pop_front();
    for (const Window& window : windows_) guard(pending_.back(), window);
    close();
  }

  void launch_ends(const std::string&) override {
    look();
    windows_.clear();
    guarded_.clear();
    findings_->report();
  }

 private:
  // tpu_poll() waits neither for SDMA nor, on some chips, for the HAU.
  bool waits_for(Op op, const ControlCmd& control, Engine engine) const {
    const Engine polled = polled_engine(op);
    switch (control.action) {
      case ControlAction::kInitialize: return true;
      case ControlAction::kPoll:
        return engine != Engine::kSdma && (engine != Engine::kHau || !memories_->chip().has(Quirk::kPollSkipsHau));
      case ControlAction::kHauPoll:
      case ControlAction::kSync: return polled == Engine::kControl || polled == engine;
      default: return false;
    }
  }

  // These commands have been waited for.
  template <class IsDone>
  void finish(IsDone is_done) {
    std::erase_if(pending_, is_done);
    guarded_.clear();
    for (const Pending& command : pending_) {
      for (const Window& window : windows_) guard(command, window);
    }
  }

  // ---- loads ----

  // Calls f(name, tensor, first, last) for the bytes behind the pointer that the command writes.
  template <class F>
  void for_each_written(const Pending& command, const Window& window, F f) const {
    for_each_tensor(command.command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
      if (access == Access::kRead) return;
      for_each_span(memories_->chip(), tensor, [&](const Span& span) {
        const std::uint64_t first = std::max(span.begin, window.begin);
        const std::uint64_t last = std::min(span.end, window.begin + window.reach);
        if (span.space == window.space && first < last) f(name, tensor, first, last);
      });
    });
  }

  void guard(const Pending& command, const Window& window) {
    if (!guards_ || guarded_.size() == kMostGuarded) return;
    std::uint64_t begin = UINT64_MAX, end = 0;
    for_each_written(command, window, [&](const char*, const Tensor&, std::uint64_t first, std::uint64_t last) {
      begin = std::min(begin, first);
      end = std::max(end, last);
    });
    if (begin < end) guarded_.push_back({window.memory + (begin - window.begin), end - begin});
  }

  void close() {
    for (const Bytes& bytes : guarded_) guard_.close(bytes.begin, bytes.count);
  }

  void tell_touches() {
    for (const PageGuard::Touch& touch : guard_.touches()) {
      // softtpu itself looks at memory, too; stores are seen as changed bytes.
      if (!touch.writes && is_users_code(touch.stack)) loaded(touch);
    }
    guard_.forget_touches();
  }

  void loaded(const PageGuard::Touch& touch) {
    for (const Window& window : windows_) {
      if (touch.address < window.memory || touch.address >= window.memory + window.reach) continue;
      const std::uint64_t byte = window.begin + static_cast<std::uint64_t>(touch.address - window.memory);
      for (auto command = pending_.rbegin(); command != pending_.rend(); ++command) {
        bool hit = false;
        for_each_written(*command, window,
                         [&](const char* name, const Tensor& tensor, std::uint64_t first, std::uint64_t last) {
                           if (hit || byte < first || byte >= last) return;
                           hit = true;
                           report_load(window, *command, {command->op, name, true, &tensor}, byte, touch.stack);
                         });
        if (hit) return;
      }
    }
  }

  void report_load(const Window& window, const Pending& command, const CallOperand& call, std::uint64_t byte,
                   const CallStack& reader) {
    Finding finding;
    finding.rule = "race/processor-read";
    const std::uint64_t word = byte / kWordBytes * kWordBytes;
    finding.place = place_of(memories_->chip(), window.space, word, word + kWordBytes);
    finding.what = fmt::format("the kernel loads from {} while {} may still write it", finding.place->text(),
                               call_name(command.op, command.stack));
    finding.calls = {pointer_party(window),
                     party_of(memories_->chip(), call, window.space, byte, command.stack),
                     {"the kernel", "the kernel loads", reader, {}}};
    findings_->add(finding);
  }

  static Party pointer_party(const Window& window) {
    const std::string function = call_name(window.op, window.stack);
    return {function, function + " gave the pointer", window.stack, {}};
  }

  // ---- stores ----

  void look() {
    guard_.open();
    tell_touches();
    // A store races with nothing then, and the next command makes what was seen new.
    if (pending_.empty()) return;
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
                               call_name(command.op, command.stack));
    finding.calls = {pointer_party(window), party_of(memories_->chip(), call, window.space, first, command.stack)};
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  const Memories* memories_ = nullptr;
  std::deque<Window> windows_;
  std::deque<Pending> pending_;  // commands since the kernel last waited for the engines
  const bool sees_loads_;
  bool guards_ = false;         // in this launch
  std::vector<Bytes> guarded_;  // what pending commands write and pointers lead to
  PageGuard guard_;
};

}  // namespace

std::shared_ptr<Observer> make_processor_race_check(std::shared_ptr<Findings> findings, bool sees_loads) {
  return std::make_shared<ProcessorRaceCheck>(std::move(findings), sees_loads);
}

}  // namespace softtpu
