#include "device/observe/race_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/icl/interval_map.hpp>
#include <deque>
#include <optional>

#include "device/memory/memories.hpp"
#include "device/observe/spans.hpp"

namespace softtpu {
namespace {

// Which command of the section touched a byte last, and through which operand (0: nobody).
struct Touch {
  std::uint32_t command = 0;
  std::uint32_t operand = 0;
  bool operator==(const Touch&) const = default;
};
using Interval = boost::icl::right_open_interval<std::uint64_t>;
using TouchMap = boost::icl::interval_map<std::uint64_t, Touch, boost::icl::partial_enricher, std::less,
                                          boost::icl::inplace_plus, boost::icl::inter_section, Interval>;

// One engine's accesses of the open section, per address space.
struct EngineAccesses {
  std::array<TouchMap, 3> reads, writes;
};

struct SectionCommand {
  Op op;
  Command command;
  CallStack stack;
};

constexpr std::array kEngines = {Engine::kBdc, Engine::kGdma, Engine::kHau};

std::optional<std::size_t> index_of(Engine engine) {
  const auto found = std::find(kEngines.begin(), kEngines.end(), engine);
  if (found == kEngines.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kEngines.begin());
}

class RaceCheck final : public Observer {
 public:
  explicit RaceCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int) override {
    chip_ = &memories.chip();
    kernel_ = kernel;
    close_section();
  }

  void after(Op op, const Command& command) override {
    if (const auto* control = std::get_if<ControlCmd>(&command)) {
      close_section();
      open_ = control->action == ControlAction::kParallelStart;
      return;
    }
    const auto engine = index_of(info(op).engine);
    if (!open_ || !engine) return;
    commands_.push_back({op, command, capture_call_stack()});
    std::uint32_t operand = 0;
    const auto visit = [&](Access access, const char*, const Operand& value) {
      if (const auto* tensor = std::get_if<Tensor>(&value)) touch(*engine, access, *tensor, operand);
      ++operand;
    };
    std::visit([&](const auto& cmd) { cmd.operands(visit); }, command);
  }

  void launch_ends(const std::string&) override {
    close_section();
    findings_->report(kernel_);
  }

 private:
  void close_section() {
    open_ = false;
    commands_.clear();
    engines_ = {};
    reported_.clear();
  }

  void touch(std::size_t engine, Access access, const Tensor& tensor, std::uint32_t operand) {
    const Touch self{static_cast<std::uint32_t>(commands_.size()), operand};
    const bool writes = access != Access::kRead;
    for_each_span(*chip_, tensor, [&](const Span& span) {
      const auto space = static_cast<std::size_t>(span.space);
      const Interval bytes(span.begin, span.end);
      for (std::size_t other = 0; other < kEngines.size(); ++other) {
        if (other == engine) continue;
        compare(engines_[other].writes[space], bytes, span, self, true, writes);
        if (writes) compare(engines_[other].reads[space], bytes, span, self, false, true);
      }
      TouchMap& map = writes ? engines_[engine].writes[space] : engines_[engine].reads[space];
      map.set({bytes, self});
    });
  }

  void compare(const TouchMap& others, const Interval& bytes, const Span& span, Touch self, bool earlier_writes,
               bool self_writes) {
    const auto [begin, end] = others.equal_range(bytes);
    for (auto at = begin; at != end; ++at) {
      const std::uint64_t first = std::max(at->first.lower(), bytes.lower());
      const std::uint64_t last = std::min(at->first.upper(), bytes.upper());
      report(at->second, self, span, first, last, earlier_writes, self_writes);
    }
  }

  const SectionCommand& command_of(Touch touch) const { return commands_[touch.command - 1]; }

  void report(Touch earlier, Touch self, const Span& span, std::uint64_t first, std::uint64_t last, bool earlier_writes,
              bool self_writes) {
    // One report for each pair of commands: the first bytes are enough to find it.
    const std::uint64_t pair = std::uint64_t{earlier.command} << 32 | self.command;
    if (std::find(reported_.begin(), reported_.end(), pair) != reported_.end()) return;
    reported_.push_back(pair);
    if (reported_.size() > 64) reported_.pop_front();
    const char* rule = earlier_writes ? (self_writes ? "race/waw" : "race/raw") : "race/war";
    const auto engine_name = [&](Touch touch) { return to_text(info(command_of(touch).op).engine); };
    Finding finding;
    finding.rule = rule;
    finding.what = fmt::format("{} and {} touch the same bytes in one parallel section: {}", engine_name(earlier),
                               engine_name(self), place(span.space, first, last));
    finding.parties = {party(earlier, earlier_writes, span.space, first), party(self, self_writes, span.space, first)};
    finding.why = fmt::format("the engines do not wait for each other between parallel_start and parallel_end; {}",
                              consequence(earlier_writes, self_writes));
    finding.mend = "end the section between the two calls, or use another buffer";
    findings_->add(std::move(finding));
  }

  static const char* consequence(bool earlier_writes, bool self_writes) {
    if (earlier_writes && self_writes) return "which value stays is not determined";
    return earlier_writes ? "the reader may see the old bytes" : "the reader may see the new bytes";
  }

  std::string place(SpanSpace space, std::uint64_t first, std::uint64_t last) const {
    if (space == SpanSpace::kSystem) return fmt::format("system memory 0x{:x}..0x{:x}", first, last - 1);
    if (space == SpanSpace::kStatic) return fmt::format("static memory 0x{:x}..0x{:x}", first, last - 1);
    const std::uint64_t offset = first % chip_->local_bytes;
    return fmt::format("NPU {}, bank {}, offset 0x{:x}..0x{:x}", first / chip_->local_bytes,
                       offset / chip_->bank_bytes(), offset, offset + (last - first) - 1);
  }

  Party party(Touch touch, bool writes, SpanSpace space, std::uint64_t byte) const {
    const SectionCommand& command = command_of(touch);
    Party result{std::string(info(command.op).name), command.stack};
    std::uint32_t operand = 0;
    const auto visit = [&](Access, const char* name, const Operand& value) {
      if (operand++ != touch.operand) return;
      const auto& tensor = std::get<Tensor>(value);
      result.text += fmt::format(" {} {} {}{}", writes ? "writes" : "reads", name, to_text(value),
                                 element_at(tensor, space, byte));
    };
    std::visit([&](const auto& cmd) { cmd.operands(visit); }, command.command);
    return result;
  }

  // ", element [n, c, h, w]" of the tensor's element that holds the byte.
  std::string element_at(const Tensor& tensor, SpanSpace space, std::uint64_t byte) const {
    std::string text;
    for_each_span(*chip_, tensor, [&](const Span& span) {
      if (!text.empty() || span.space != space || byte < span.begin || byte >= span.end) return;
      const auto element = static_cast<int>((byte - span.begin) / static_cast<unsigned>(size_of(tensor.dtype)));
      const int w = span.w + element;
      text = fmt::format(", element [{}, {}, {}, {}]", span.n, span.c, span.h + w / tensor.shape.w, w % tensor.shape.w);
    });
    return text;
  }

  std::shared_ptr<Findings> findings_;
  const Chip* chip_ = nullptr;
  std::string kernel_;
  bool open_ = false;
  std::vector<SectionCommand> commands_;
  std::array<EngineAccesses, kEngines.size()> engines_;
  std::deque<std::uint64_t> reported_;
};

}  // namespace

std::shared_ptr<Observer> make_race_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<RaceCheck>(std::move(findings));
}

}  // namespace softtpu
