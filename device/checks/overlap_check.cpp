#include "device/checks/overlap_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "device/footprint/operand_use.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {
namespace {

bool steps_agree(int a_extent, int b_extent, std::int64_t a_stride, std::int64_t b_stride) {
  return a_extent == 1 || b_extent == 1 || a_stride == b_stride;
}

// Every element of one tensor lies where the other one's element of the same index does: nothing is overwritten before
// it is read. A source of one channel may be the first channel of a destination of many.
bool is_in_place(const Tensor& a, const Tensor& b) {
  return a.space == b.space && a.addr == b.addr && size_of(a.dtype) == size_of(b.dtype) &&
         steps_agree(a.shape.n, b.shape.n, a.stride.n, b.stride.n) &&
         steps_agree(a.shape.c, b.shape.c, a.stride.c, b.stride.c) &&
         steps_agree(a.shape.h, b.shape.h, a.stride.h, b.stride.h) &&
         steps_agree(a.shape.w, b.shape.w, a.stride.w, b.stride.w);
}

std::vector<Span> spans_of(const Chip& chip, const OperandUse& use) {
  std::vector<Span> spans;
  for_each_used_span(chip, use, [&](const Span& span) { spans.push_back(span); });
  const auto before = [](const Span& a, const Span& b) { return a.begin < b.begin; };
  if (!std::is_sorted(spans.begin(), spans.end(), before)) std::sort(spans.begin(), spans.end(), before);
  return spans;
}

// The first byte that both touch.
std::optional<std::uint64_t> shared_byte(const std::vector<Span>& a, const std::vector<Span>& b) {
  if (a.empty() || b.empty() || a.front().space != b.front().space) return std::nullopt;
  std::uint64_t reach = 0;  // the furthest end of b's spans that begin no later than a's
  auto next = b.begin();
  for (const Span& span : a) {
    for (; next != b.end() && next->begin <= span.begin; ++next) reach = std::max(reach, next->end);
    if (span.begin < reach) return span.begin;
    if (next != b.end() && next->begin < span.end) return next->begin;
  }
  return std::nullopt;
}

class OverlapCheck final : public Observer {
 public:
  explicit OverlapCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
  }

  void before(Op op, const Command& command) override {
    // Whole blocks move as memmove moves them.
    const auto* copy = std::get_if<DmaCopyCmd>(&command);
    if (copy != nullptr && copy->order == CopyOrder::kBlock) return;
    uses_.clear();
    for_each_use(command, [&](const OperandUse& use) { uses_.push_back(use); });
    for (const OperandUse& dst : uses_) {
      if (!dst.writes) continue;
      for (const OperandUse& src : uses_) {
        if (!src.reads || src.writes || src.name == std::string_view("old output")) continue;
        if (is_in_place(dst.tensor, src.tensor) || !may_overlap(*chip_, dst.tensor, src.tensor)) continue;
        const auto byte = shared_byte(spans_of(*chip_, dst), spans_of(*chip_, src));
        if (byte) return report(op, dst, src, *byte);
      }
    }
  }

  void launch_ends(const std::string&) override { findings_->report(); }

 private:
  void report(Op op, const OperandUse& dst, const OperandUse& src, std::uint64_t byte) {
    const CallStack here = capture_call_stack();
    const std::string function = call_name(op, here);
    Finding finding;
    finding.rule = "constraint/overlap-order";
    finding.what = fmt::format("{} of {} shares bytes with {}, which lies elsewhere in it (first at 0x{:x})", dst.name,
                               function, src.name, byte);
    finding.parties = {{function,
                        fmt::format("{} writes {} {}, reads {} {}", function, dst.name, to_text(Operand(dst.tensor)),
                                    src.name, to_text(Operand(src.tensor))),
                        here,
                        {}}};
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  const Chip* chip_ = nullptr;
  std::vector<OperandUse> uses_;
};

}  // namespace

std::shared_ptr<Observer> make_overlap_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<OverlapCheck>(std::move(findings));
}

}  // namespace softtpu
