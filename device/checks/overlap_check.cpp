#include "device/checks/overlap_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "device/footprint/element_flow.hpp"
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

// No element of a result lands behind its own source, and those that are still to be read lie behind that one. So none
// is overwritten before it is read, however many are read ahead: a result that is packed, narrowed or widened towards
// its end.
bool stays_behind(const Chip& chip, const Tensor& dst, const Tensor& src) {
  if (dst.space != src.space || !(dst.shape == src.shape)) return false;
  const bool local = src.space == Space::kLocal;
  if (local && chip.npu_of(dst.addr) != chip.npu_of(src.addr)) return false;
  const std::int64_t size = size_of(dst.dtype), from = size_of(src.dtype);
  const std::int64_t rows = local ? (src.shape.c + chip.npu_num - 1) / chip.npu_num : src.shape.c;
  std::int64_t reach = 1;  // of what is walked before a step, in elements of the source
  auto lead = static_cast<std::int64_t>(src.addr) - static_cast<std::int64_t>(dst.addr);  // the smallest, in bytes
  bool repeats = false;
  const auto step = [&](std::int64_t extent, std::int64_t stride, std::int64_t source) {
    if (extent == 1) return true;
    const bool good = stride >= 0 && (source == 0 || source >= reach);
    repeats = repeats || source == 0;
    reach += (extent - 1) * source;
    lead += std::min<std::int64_t>(0, (extent - 1) * (source * from - stride * size));
    return good;
  };
  return size <= from && step(src.shape.w, dst.stride.w, src.stride.w) &&
         step(src.shape.h, dst.stride.h, src.stride.h) && step(rows, dst.stride.c, src.stride.c) &&
         step(src.shape.n, dst.stride.n, src.stride.n) && lead >= (repeats ? size : 0);
}

// Where each element of a result begins to read: at the source's element of the same index, or at the first of a window
// that begins inside the input. nullopt: elements read more than that.
std::optional<Tensor> first_reads(const Command& command, const OperandUse& src, const Dim4& result) {
  const auto* pool = std::get_if<PoolCmd>(&command);
  if (pool == nullptr) return find_elementwise_result(command) ? std::optional(src.tensor) : std::nullopt;
  const Window& window = pool->window;
  const bool inside =
      window.padding.top == 0 && window.padding.left == 0 && window.insert.h == 0 && window.insert.w == 0;
  if (!inside || src.name != std::string_view("input")) return std::nullopt;
  Tensor tensor = src.tensor;
  tensor.shape = result;
  tensor.stride.h *= window.stride.h;
  tensor.stride.w *= window.stride.w;
  return tensor;
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

// Where each element lies, in n, c, h, w order; local addresses as spans have them.
std::vector<std::uint64_t> places_of(const Chip& chip, const Tensor& tensor) {
  std::vector<std::uint64_t> places;
  const auto size = static_cast<std::uint64_t>(size_of(tensor.dtype));
  for_each_span(chip, tensor, [&](const Span& span) {
    for (std::uint64_t at = span.begin; at < span.end; at += size) places.push_back(at);
  });
  return places;
}

// A copy whose destination overwrites bytes of the source with what they hold: one row to several of which it is the
// first. The order of reading and writing cannot change the result.
bool keeps_its_source(const Chip& chip, const Command& command) {
  constexpr std::int64_t kMostElements = 1 << 20;
  const auto* copy = std::get_if<CopyCmd>(&command);
  const auto* src = copy != nullptr ? std::get_if<Tensor>(&copy->src) : nullptr;
  if (src == nullptr || src->dtype != copy->dst.dtype || size_of(src->dtype) < 1) return false;
  if (!(src->shape == copy->dst.shape) || src->shape.elements() > kMostElements) return false;
  const std::vector<std::uint64_t> from = places_of(chip, *src), to = places_of(chip, copy->dst);
  std::vector<std::uint64_t> read = from;
  std::sort(read.begin(), read.end());
  const auto size = static_cast<std::uint64_t>(size_of(src->dtype));
  for (std::size_t i = 0; i < to.size(); ++i) {
    // The first element that is read and ends behind where this one begins.
    const auto next = std::upper_bound(read.begin(), read.end(), to[i] - std::min(to[i], size));
    const bool meets = next != read.end() && *next<to[i] + size&& * next + size> to[i];
    if (meets && from[i] != to[i]) return false;
  }
  return true;
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
        const auto reads = first_reads(command, src, dst.tensor.shape);
        if (reads && stays_behind(*chip_, dst.tensor, *reads)) continue;
        const auto byte = shared_byte(spans_of(*chip_, dst), spans_of(*chip_, src));
        if (byte && !keeps_its_source(*chip_, command)) return report(op, dst, src, *byte);
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
    const char* const differs =
        dst.tensor.addr == src.tensor.addr ? "has another layout" : "does not start at the same address";
    finding.what = fmt::format("{} of {} overlaps {} but {} (first common byte: 0x{:x})", dst.name, function, src.name,
                               differs, byte);
    finding.calls = {{function,
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
