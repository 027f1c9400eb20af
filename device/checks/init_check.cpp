#include "device/checks/init_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/footprint/element_flow.hpp"
#include "device/footprint/local_map.hpp"
#include "device/footprint/operand_use.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {
namespace {

// How many tensors of the launch are remembered to recognise the tail of an earlier, larger one.
constexpr std::size_t kMostWrites = 256;

struct LocalWrite {
  Op op;
  Tensor tensor;
  CallStack stack;
};

// The latest writes of a launch. What is asked of most of them the places answer, which lie side by side.
class LocalWrites {
 public:
  struct Place {
    Op op;
    std::uint64_t address;
    std::optional<LocalBox> box;
  };

  void clear() { count_ = 0; }
  void add(const Chip& chip, Op op, const Tensor& tensor, const CallStack& stack) {
    const std::size_t next = count_++ % kMostWrites;
    places_[next] = {op, tensor.addr, box_of(chip, tensor)};
    writes_[next] = {op, tensor, stack};
  }
  // Calls f(place, write) from the latest on until it is true.
  template <class F>
  void find(F f) const {
    for (std::size_t i = count_; i > 0 && count_ - i < kMostWrites; --i) {
      const std::size_t at = (i - 1) % kMostWrites;
      if (f(places_[at], writes_[at])) return;
    }
  }

 private:
  std::size_t count_ = 0;
  std::vector<Place> places_ = std::vector<Place>(kMostWrites);
  std::vector<LocalWrite> writes_ = std::vector<LocalWrite>(kMostWrites);
};

// The same place and layout, and the later one is smaller in at least one direction and larger in none.
bool is_smaller(const Tensor& later, const Tensor& earlier) {
  const Dim4 &a = later.shape, &b = earlier.shape;
  return later.addr == earlier.addr && later.dtype == earlier.dtype && later.natural && earlier.natural && a.n <= b.n &&
         a.c <= b.c && a.h <= b.h && a.w <= b.w && !(a == b);
}

class InitCheck final : public Observer {
 public:
  InitCheck(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow,
            std::shared_ptr<AllocationTable> allocations)
      : findings_(std::move(findings)), shadow_(std::move(shadow)), allocations_(std::move(allocations)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    if (findings_ != nullptr) findings_->begin(kernel, core);
    shadow_->begin_launch();
    writes_.clear();
    tails_.clear();
  }

  void before(Op op, const Command& command) override {
    marks_.clear();
    sums_.clear();
    if (std::holds_alternative<ControlCmd>(command)) return;  // has no operands, and its call is slow to find
    begin_call();
    if (findings_ == nullptr) return;
    result_ = find_followed_result(command);
    keeps_bytes_ = keeps_bytes(command);
    for_each_use(command, [&](const OperandUse& use) {
      if (use.reads && use.role.all && use.tensor.space != Space::kStatic) check(op, command, use);
    });
  }

  void after(Op op, const Command& command) override {
    uses_.clear();
    for_each_use(command, [&](const OperandUse& use) { uses_.push_back(use); });
    const bool updates = is_update(uses_);
    for (const OperandUse& use : uses_) {
      if (use.writes) mark(op, use, updates);
    }
    if (!marks_.empty()) taint(*result_, marks_);
    if (!sums_.empty()) taint(summed_, sums_);
  }

  void asked(Op op, const Tensor& tensor, bool reads) override {
    if (findings_ == nullptr || !reads) return;
    begin_call();
    marks_.clear();
    result_.reset();
    keeps_bytes_ = false;
    OperandUse use;
    use.name = "addr";
    use.tensor = tensor;
    use.reads = true;
    check(op, ControlCmd{}, use);
  }

  // What the kernel's own code writes through a pointer cannot be seen: everything from the pointer on may be.
  void pointer(Op, Space space, std::uint64_t address) override {
    if (space == Space::kLocal) {
      const std::uint64_t end = (address / chip_->local_bytes + 1) * chip_->local_bytes;
      if (end <= chip_->local_mem.bytes) shadow_->mark_written(run_of(*chip_, {SpanSpace::kLocal, address, end}));
    } else if (chip_->l2_sram.contains(address)) {
      shadow_->mark_written({SpanSpace::kSystem, address, chip_->l2_sram.start + chip_->l2_sram.bytes});
    } else if (chip_->global_mem.contains(address)) {
      allocations_->update(known_);
      if (const AllocationRecord* owner = known_.find(address)) {
        shadow_->mark_written(address, owner->address + owner->bytes - address);
      } else {
        anywhere_ = true;
      }
    }
  }

  void launch_ends(const std::string& fault) override {
    if (findings_ == nullptr) return;
    for (Tail& tail : tails_) {
      if (!tail.has_reached && tail.costs_time && fault.empty()) tell_unused(std::move(tail.finding));
    }
    shadow_->end_launch();
    findings_->report();
  }

 private:
  bool is_global(const Span& span) const {
    return span.space == SpanSpace::kSystem && chip_->global_mem.contains(span.begin);
  }
  std::uint8_t expected(const Span& span) const { return is_global(span) ? Shadow::kLastLaunch : shadow_->launch(); }

  // Calls f(at, end, state) for the bytes of a span that were not written in this launch, counted from its begin.
  template <class F>
  void for_each_unwritten(const Span& span, F f) const {
    if (span.space == SpanSpace::kLocal) return shadow_->for_each_unwritten(span, f);
    const std::uint8_t* states = shadow_->find(span);
    if (states == nullptr || (anywhere_ && is_global(span))) return;
    const std::uint64_t bytes = span.end - span.begin;
    const std::uint8_t good = expected(span);
    for (std::uint64_t at = find_other(states, bytes, good), end = at; at < bytes; at = end) {
      end += find_other(states + at, bytes - at, states[at]);
      // Not allocated: the memory check's concern.
      const bool unknown = states[at] == Shadow::kUnknown && is_global(span);
      if (states[at] != good && !unknown) f(at, end, states[at]);
    }
  }

  bool is_written(const Span& span) const {
    const std::uint8_t* states = shadow_->find(span);
    if (states == nullptr || (anywhere_ && is_global(span))) return true;
    return find_other(states, span.end - span.begin, expected(span)) == span.end - span.begin;
  }

  void check(Op op, const Command& command, const OperandUse& use) {
    // Most operands were written as a whole, and of most others all but few lanes.
    std::uint64_t lanes = 0;
    bool written = true;
    for_each_used_run(*chip_, use, [&](SpanSpace space, const LaneRun& run) {
      if (space == SpanSpace::kLocal) lanes |= shadow_->unwritten_lanes(run);
      if (space == SpanSpace::kSystem) written = written && is_written({space, run.begin, run.end});
    });
    if (written && lanes == 0) return;
    bool reported = false;
    std::optional<bool> holds_data;  // some of the operand was written
    ElementMarks marks;
    for_each_used_span(*chip_, use, [&](const Span& span) {
      if (span.space == SpanSpace::kLocal && (run_of(*chip_, span).lanes & lanes) == 0) return;
      for_each_unwritten(span, [&](std::uint64_t at, std::uint64_t end, std::uint8_t state) {
        std::uint8_t tail = find_tail(op, use, span, at, end, state);
        if (tail == 0 && is_followed(use)) {
          if (!holds_data) holds_data = is_written_in_part(use);
          if (*holds_data) tail = add_unwritten(op, use, span, at, end, state);
        }
        if (tail != 0) {
          mark_elements(use.tensor, span, at, end, tail, marks);
        } else if (!std::exchange(reported, true)) {
          report(op, use, span, at, end, state);
        }
      });
    });
    if (marks.empty()) return;
    if (is_sum_of_network(use)) {
      summed_ = use.tensor;
      sums_ = std::move(marks);
      return;
    }
    if (!is_compiled()) note_cost(use.tensor, marks);
    if (result_ && result_->space == Space::kLocal) {
      if (marks_.empty()) marks_.resize(count_marks(*result_));
      return follow_marks(command, use.tensor, marks, *result_, marks_);
    }
    for (const std::uint8_t mark : std::set<std::uint8_t>(marks.begin(), marks.end())) {
      if (mark != 0) reached(op, use, tails_[mark - Shadow::kFirstTaint]);
    }
  }

  static const char* rule_of(const ReportedRange& place, std::uint8_t state) {
    if (place.memory == "global") return "init/global";
    if (state >= Shadow::kFirstLaunch) return "init/earlier-launch";
    return place.memory == "L2" ? "init/l2" : "init/local";
  }

  Finding unwritten(Op op, const OperandUse& use, const Span& span, std::uint64_t at, std::uint64_t end,
                    std::uint8_t state) const {
    Finding finding;
    finding.place = place_of(*chip_, span.space, span.begin + at, span.begin + end);
    finding.rule = rule_of(*finding.place, state);
    finding.what =
        fmt::format("{} reads bytes that {}: {}", call_name(op, here_),
                    state >= Shadow::kFirstLaunch ? "were written by an earlier launch only" : "were never written",
                    finding.place->text());
    finding.calls.push_back(party_of(*chip_, {op, use.name, false, &use.tensor}, span.space, span.begin + at, here_));
    return finding;
  }

  void report(Op op, const OperandUse& use, const Span& span, std::uint64_t at, std::uint64_t end, std::uint8_t state) {
    findings_->add(unwritten(op, use, span, at, end, state));
  }

  // ---- operands that were written in part: what is read of the rest may never get into a result ----

  // What becomes of single elements of this operand is known. Copies of compiled networks may load more than there is.
  bool is_followed(const OperandUse& use) const {
    if (is_sum_of_network(use)) return true;
    return (use.tensor.space == Space::kLocal || is_compiled()) && result_ && result_->space == Space::kLocal;
  }

  // Products of compiled networks add to sums of which a part is filled later.
  bool is_sum_of_network(const OperandUse& use) const {
    return is_compiled() && !result_ && use.reads && use.writes && use.tensor.space == Space::kLocal;
  }

  bool is_written_in_part(const OperandUse& use) const {
    bool found = false;
    for_each_used_span(*chip_, use, [&](const Span& span) {
      const std::uint8_t* states = found ? nullptr : shadow_->find(span);
      if (states == nullptr) return;
      found = std::find(states, states + (span.end - span.begin), expected(span)) != states + (span.end - span.begin);
    });
    return found;
  }

  std::uint8_t add_unwritten(Op op, const OperandUse& use, const Span& span, std::uint64_t at, std::uint64_t end,
                             std::uint8_t state) {
    if (const std::uint8_t known = find_own_tail(); known != 0) return known;
    return add_own_tail(unwritten(op, use, span, at, end, state));
  }

  // Whether the units work on rows, or the engine on channels, in which nothing but such elements lies: the rest takes
  // no time of its own.
  void note_cost(const Tensor& tensor, const ElementMarks& marks) {
    if (tensor.space != Space::kLocal) return;
    const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
    std::map<std::array<std::int64_t, 3>, std::uint8_t>
        rows;  // n, channels that work together, row of units: its mark, or 0
    std::size_t i = 0;
    const std::size_t step = static_cast<std::size_t>(size) / marked_bytes(tensor);
    const Dim4& shape = tensor.shape;
    for (int n = 0; n < shape.n; ++n) {
      for (int c = 0; c < shape.c; ++c) {
        const std::int64_t group = (chip_->npu_of(tensor.addr) + c) / chip_->npu_num;
        for (int h = 0; h < shape.h; ++h) {
          for (int w = 0; w < shape.w; ++w, i += step) {
            const std::int64_t row = (h * tensor.stride.h + w * tensor.stride.w) * size / chip_->eu_bytes;
            const auto [place, is_new] = rows.try_emplace({n, group, row}, marks[i]);
            if (marks[i] == 0) place->second = 0;
          }
        }
      }
    }
    for (const auto& [place, mark] : rows) {
      const std::size_t tail = std::size_t{mark} - Shadow::kFirstTaint;
      if (mark != 0 && tails_[tail].reader == here_) tails_[tail].costs_time = true;
    }
  }

  // ---- stale tails: what is read of them, and where it ends ----

  // A call that reads bytes behind a tensor's last column or channel.
  struct Tail {
    Finding finding;  // of the call
    CallStack reader;
    bool has_reached = false;  // a result that is stored or reduced
    bool costs_time = false;
  };

  // An instruction of a compiled network. Compilers compute on the last row of a tensor that fills its NPUs in part:
  // what counts is what becomes of it.
  bool is_compiled() const { return !here_.step.empty(); }

  // The number of the call that read these bytes first, or reads them now; 0: they are no tail.
  std::uint8_t find_tail(Op op, const OperandUse& use, const Span& span, std::uint64_t at, std::uint64_t end,
                         std::uint8_t state) {
    if (Shadow::is_taint(state)) {
      const std::size_t known = std::size_t{state} - Shadow::kFirstTaint;
      return known < tails_.size() ? state : std::uint8_t{0};
    }
    if (span.space != SpanSpace::kLocal) return 0;
    if (is_compiled() && find_own_tail() != 0) return find_own_tail();
    const auto first = tail_of(use.tensor, span.begin + at);
    const bool is_stale = first || state == Shadow::kStale;
    if (!is_stale && !is_compiled()) return 0;
    if (const std::uint8_t known = find_own_tail(); known != 0) return known;
    Finding finding;
    finding.rule = "init/stale-tail";
    finding.place = place_of(*chip_, span.space, span.begin + at, span.begin + end);
    finding.what =
        fmt::format("{} reads bytes of {} that an earlier, larger tensor has left", call_name(op, here_), use.name);
    if (!is_stale) {
      finding.rule = rule_of(*finding.place, state);
      finding.what = fmt::format("{} reads bytes that were never written", call_name(op, here_));
    }
    if (first) {
      const LocalWrite* write = first->first;
      const std::string function = call_name(write->op, write->stack);
      const SourceLine line = find_caller(write->stack);
      const std::string writer = line.line > 0 ? fmt::format("{} at {}", function, line.text()) : function;
      finding.what = fmt::format("{} reads {} of {}, but {} wrote only {}", call_name(op, here_),
                                 read_part(use.tensor, span, at, end, *first), use.name, writer,
                                 written_part(use.tensor, span, at, *first));
      finding.calls.push_back(
          {function, fmt::format("{} wrote {}", function, to_text(Operand(write->tensor))), write->stack, {}});
    }
    finding.what += ": " + finding.place->text();
    finding.calls.push_back(party_of(*chip_, {op, use.name, false, &use.tensor}, span.space, span.begin + at, here_));
    return add_own_tail(std::move(finding));
  }

  // Whether the elements behind the last column have numbers of columns: one row of the same type.
  static bool has_columns(const Tensor& read, const LocalWrite& write) {
    return read.dtype == write.tensor.dtype && read.shape.h == 1 && write.tensor.shape.h == 1;
  }

  static std::string read_part(const Tensor& read, const Span& span, std::uint64_t at, std::uint64_t end,
                               const std::pair<const LocalWrite*, const char*>& tail) {
    if (*tail.second == 'C') return fmt::format("channel {}", span.c);
    if (!has_columns(read, *tail.first)) return fmt::format("what lies behind the elements");
    const auto size = static_cast<std::uint64_t>(size_of(read.dtype));
    const auto column = static_cast<std::uint64_t>(span.w);
    const std::uint64_t first = column + at / size, last = column + (end - 1) / size;
    return first == last ? fmt::format("column {}", first) : fmt::format("columns {}..{}", first, last);
  }

  static std::string written_part(const Tensor& read, const Span& span, std::uint64_t at,
                                  const std::pair<const LocalWrite*, const char*>& tail) {
    const Tensor& tensor = tail.first->tensor;
    // The last channel of a matrix may hold fewer columns than the others.
    const auto column = static_cast<std::uint64_t>(span.w) + at / static_cast<std::uint64_t>(size_of(read.dtype));
    if (*tail.second != 'C' && has_columns(read, *tail.first) && column < static_cast<std::uint64_t>(tensor.shape.w))
      return fmt::format("a part of channel {}", span.c);
    if (*tail.second == 'C') return fmt::format("channels 0..{}", tensor.shape.c - 1);
    if (!has_columns(read, *tail.first)) return fmt::format("{} of {}", to_text(tensor.shape), to_text(tensor.dtype));
    return tensor.shape.w == 1 ? std::string("column 0") : fmt::format("columns 0..{}", tensor.shape.w - 1);
  }

  // The number of the tail that the call which is carried out reads; 0: it has none yet.
  std::uint8_t find_own_tail() {
    if (own_tail_ != 0) return own_tail_;
    if (!std::exchange(is_own_sought_, true)) {
      const auto own =
          std::find_if(tails_.begin(), tails_.end(), [&](const Tail& tail) { return tail.reader == here_; });
      if (own != tails_.end())
        return own_tail_ = static_cast<std::uint8_t>(Shadow::kFirstTaint + (own - tails_.begin()));
    }
    return tails_.size() > Shadow::kLastTaint - Shadow::kFirstTaint ? Shadow::kLastTaint : std::uint8_t{0};
  }

  std::uint8_t add_own_tail(Finding finding) {
    own_tail_ = static_cast<std::uint8_t>(Shadow::kFirstTaint + tails_.size());
    tails_.push_back({std::move(finding), here_});
    return own_tail_;
  }

  void begin_call() {
    here_ = capture_call_stack();
    own_tail_ = 0;
    is_own_sought_ = false;
  }

  // How many bytes one mark stands for.
  std::uint64_t marked_bytes(const Tensor& tensor) const {
    return keeps_bytes_ ? 1 : static_cast<std::uint64_t>(size_of(tensor.dtype));
  }
  std::size_t count_marks(const Tensor& tensor) const {
    const auto elements = static_cast<std::size_t>(tensor.shape.elements());
    return elements * static_cast<std::size_t>(size_of(tensor.dtype)) / marked_bytes(tensor);
  }
  std::size_t first_mark(const Tensor& tensor, const Span& span) const {
    return first_element(tensor.shape, span) * static_cast<std::size_t>(size_of(tensor.dtype)) / marked_bytes(tensor);
  }

  void mark_elements(const Tensor& tensor, const Span& span, std::uint64_t at, std::uint64_t end, std::uint8_t mark,
                     ElementMarks& marks) const {
    if (marks.empty()) marks.resize(count_marks(tensor));
    const std::uint64_t size = marked_bytes(tensor);
    const std::size_t first = first_mark(tensor, span);
    for (std::uint64_t i = at / size; i <= (end - 1) / size; ++i) marks[first + i] = mark;
  }

  static std::size_t first_element(const Dim4& shape, const Span& span) {
    const std::int64_t row = (std::int64_t{span.n} * shape.c + span.c) * shape.h + span.h;
    return static_cast<std::size_t>(row * shape.w + span.w);
  }

  // The command has written its result; elements that were made of stale ones are no better.
  void taint(const Tensor& result, const ElementMarks& marks) {
    const std::uint64_t size = marked_bytes(result);
    for_each_span(*chip_, result, [&](const Span& span) {
      const std::uint8_t* mark = marks.data() + first_mark(result, span);
      const std::uint64_t count = (span.end - span.begin) / size;
      for (std::uint64_t first = 0, next = 0; first < count; first = next) {
        next += find_other(mark + first, count - first, mark[first]);
        const Span same{SpanSpace::kLocal, span.begin + first * size, span.begin + next * size};
        if (mark[first] != 0) shadow_->mark_bad(same, mark[first]);
      }
    });
  }

  // The command stores the tail's value, or adds it up with others.
  void reached(Op op, const OperandUse& use, Tail& tail) {
    tail.has_reached = true;
    Finding finding = tail.finding;
    if (!(here_ == tail.reader)) {
      const std::string function = call_name(op, here_);
      finding.what =
          fmt::format("{} uses what was computed from bytes that were not written: {}", function, finding.what);
      finding.calls.push_back(
          {function, fmt::format("{} reads {} {}", function, use.name, to_text(Operand(use.tensor))), here_, {}});
    }
    findings_->add(finding);
  }

  void tell_unused(Finding finding) {
    finding.rule = "init/unused-tail";
    findings_->add(finding);
  }

  // The latest tensor at the same address whose layout has room for the byte but no element there, and the direction it
  // is missing in.
  std::optional<std::pair<const LocalWrite*, const char*>> tail_of(const Tensor& read, std::uint64_t byte) const {
    if (read.space != Space::kLocal) return std::nullopt;
    std::optional<std::pair<const LocalWrite*, const char*>> tail;
    writes_.find([&](const LocalWrites::Place& place, const LocalWrite& write) {
      if (place.address != read.addr || !write.tensor.natural) return false;
      if (const char* direction = missing_in(write.tensor, byte)) tail.emplace(&write, direction);
      return tail.has_value();
    });
    return tail;
  }

  const char* missing_in(const Tensor& tensor, std::uint64_t byte) const {
    const int npu = static_cast<int>(byte / chip_->local_bytes);
    const auto offset = static_cast<std::int64_t>(byte % chip_->local_bytes) - chip_->offset_of(tensor.addr);
    const int start = chip_->npu_of(tensor.addr);
    const auto size = size_of(tensor.dtype);
    const std::int64_t groups = (start + tensor.shape.c + chip_->npu_num - 1) / chip_->npu_num;
    const std::int64_t block = std::int64_t{tensor.stride.c} * size;
    const std::int64_t all = (std::int64_t{tensor.shape.n - 1} * tensor.stride.n) * size + groups * block;
    if (block <= 0 || offset < 0 || offset >= all) return nullptr;
    // Which channel of the layout the byte belongs to.
    const std::int64_t group = offset % std::max<std::int64_t>(std::int64_t{tensor.stride.n} * size, block) / block;
    const std::int64_t channel = group * chip_->npu_num + npu - start;
    if (channel < 0 || channel >= tensor.shape.c) return "C";
    return "W";
  }

  // A command that adds to what it writes, or changes it in place, leaves around it what belongs there: an accumulator
  // of which one step changes a part.
  static bool is_update(const std::vector<OperandUse>& uses) {
    std::optional<std::uint64_t> written;
    bool updates = false;
    for (const OperandUse& use : uses) {
      if (use.writes && use.tensor.space == Space::kLocal) written = use.tensor.addr;
      updates = updates || (use.writes && use.reads);
    }
    for (const OperandUse& use : uses)
      updates = updates || (use.reads && use.tensor.space == Space::kLocal && written == use.tensor.addr);
    return updates;
  }

  void mark(Op op, const OperandUse& use, bool updates) {
    const bool is_local = use.tensor.space == Space::kLocal;
    if (is_local && !updates) note_smaller(op, use.tensor);
    for_each_used_run(*chip_, use, [&](SpanSpace space, const LaneRun& run) {
      if (space == SpanSpace::kLocal) return shadow_->mark_written(run);
      if (space == SpanSpace::kSystem) shadow_->mark_written({space, run.begin, run.end});
    });
    if (is_local) writes_.add(*chip_, op, use.tensor, here_);
  }

  // A loop that the compiler has unrolled has several calls for one line of the source.
  static bool is_same_call(const CallStack& a, const CallStack& b) {
    if (a == b) return true;
    const SourceLine line = find_caller(a);
    return line.line > 0 && line == find_caller(b);
  }

  // A tensor that the same call wrote to the same place and that was larger leaves a tail, unless another call has
  // written there since.
  void note_smaller(Op op, const Tensor& tensor) {
    if (!tensor.natural) return;
    const auto box = box_of(*chip_, tensor);
    writes_.find([&](const LocalWrites::Place& place, const LocalWrite& write) {
      if (place.op == op && place.address == tensor.addr) {
        if (!is_smaller(tensor, write.tensor) || !is_same_call(write.stack, here_)) return true;
        for_each_span(*chip_, write.tensor, [&](const Span& span) { shadow_->mark_bad(span, Shadow::kStale); });
        return true;
      }
      // Overwritten as a whole or in part by another call since: its bytes are meant.
      const bool meet = !box || !place.box || box->meets(*place.box);
      return meet && may_overlap(*chip_, write.tensor, tensor);
    });
  }

  std::shared_ptr<Findings> findings_;
  std::shared_ptr<Shadow> shadow_;
  std::shared_ptr<AllocationTable> allocations_;
  KnownAllocations known_;
  const Chip* chip_ = nullptr;
  LocalWrites writes_;
  std::vector<OperandUse> uses_;  // of the command that is carried out
  bool anywhere_ = false;         // the kernels' own code may write all of global memory
  std::vector<Tail> tails_;       // of the launch
  CallStack here_;                // the call of the command that is carried out
  std::uint8_t own_tail_ = 0;     // its number among the tails, once it is known
  bool is_own_sought_ = false;
  std::optional<Tensor> result_;  // of the command that is carried out, if its elements depend on single ones
  bool keeps_bytes_ = false;      // there is a mark for each byte of it
  ElementMarks marks_;            // of its elements; empty: none is tainted
  Tensor summed_;                 // what a product adds to
  ElementMarks sums_;             // of the elements of that
};

}  // namespace

std::shared_ptr<Observer> make_init_check(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow,
                                          std::shared_ptr<AllocationTable> allocations) {
  return std::make_shared<InitCheck>(std::move(findings), std::move(shadow), std::move(allocations));
}

}  // namespace softtpu
