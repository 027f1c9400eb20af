#include "device/observe/init_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <optional>

#include "device/memory/overlap.hpp"
#include "device/observe/describe.hpp"
#include "device/observe/operand_use.hpp"

namespace softtpu {
namespace {

// How many tensors of the launch are remembered to recognise the tail of an earlier, larger one.
constexpr std::size_t kMostWrites = 256;

struct LocalWrite {
  Op op;
  Tensor tensor;
  CallStack stack;
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
  }

  void before(Op op, const Command& command) override {
    if (findings_ == nullptr) return;
    for_each_use(command, [&](const OperandUse& use) {
      if (use.reads && use.all && use.tensor.space != Space::kStatic) check(op, use);
    });
  }

  void after(Op op, const Command& command) override {
    for_each_use(command, [&](const OperandUse& use) {
      if (use.writes) mark(op, use);
    });
  }

  // What the kernel's own code writes through a pointer cannot be seen: everything from the pointer on may be.
  void pointer(Op, Space space, std::uint64_t address) override {
    if (space == Space::kLocal) {
      const std::uint64_t end = (address / chip_->local_bytes + 1) * chip_->local_bytes;
      if (end <= chip_->local_mem.bytes) set(shadow_->local() + address, end - address);
    } else if (chip_->l2_sram.contains(address)) {
      const std::uint64_t offset = address - chip_->l2_sram.start;
      set(shadow_->l2() + offset, chip_->l2_sram.bytes - offset);
    } else if (chip_->global_mem.contains(address)) {
      const auto known = allocations_->read();
      if (const AllocationRecord* owner = known.find(address)) {
        shadow_->mark_written(address, owner->address + owner->bytes - address);
      } else {
        anywhere_ = true;
      }
    }
  }

  void launch_ends(const std::string&) override {
    if (findings_ != nullptr) findings_->report();
  }

 private:
  void set(std::uint8_t* states, std::uint64_t bytes) { std::memset(states, shadow_->launch(), bytes); }

  std::uint8_t expected(const Span& span) const {
    const bool global = span.space == SpanSpace::kSystem && chip_->global_mem.contains(span.begin);
    return global ? Shadow::kLastLaunch : shadow_->launch();
  }

  void check(Op op, const OperandUse& use) {
    bool reported = false;
    for_each_used_span(*chip_, use, [&](const Span& span) {
      const std::uint8_t* states = reported ? nullptr : shadow_->find(span);
      if (states == nullptr) return;
      const std::uint64_t bytes = span.end - span.begin;
      const std::uint8_t good = expected(span);
      const std::uint64_t at = find_other(states, bytes, good);
      if (at == bytes || (anywhere_ && good == Shadow::kLastLaunch)) return;
      // Not allocated: the memory check's concern.
      if (states[at] == Shadow::kUnknown && good == Shadow::kLastLaunch) return;
      std::uint64_t end = at;
      while (end < bytes && states[end] == states[at]) ++end;
      reported = true;
      report(op, use, span, at, end, states[at]);
    });
  }

  static const char* rule_of(const FoundPlace& place, std::uint8_t state) {
    if (place.memory == "global") return "init/global";
    if (state == Shadow::kStale) return "init/stale-tail";
    if (state >= Shadow::kFirstLaunch) return "init/earlier-launch";
    return place.memory == "L2" ? "init/l2" : "init/local";
  }

  void report(Op op, const OperandUse& use, const Span& span, std::uint64_t at, std::uint64_t end, std::uint8_t state) {
    Finding finding;
    finding.place = place_of(*chip_, span.space, span.begin + at, span.begin + end);
    finding.rule = rule_of(*finding.place, state);
    const auto first = finding.rule == "init/global" ? std::nullopt : tail_of(use.tensor, span.begin + at);
    if (first) {
      finding.rule = "init/stale-tail";
      finding.what = fmt::format("{} reads the stale {} tail of a tensor {}: {}", info(op).name, first->second,
                                 to_text(first->first->tensor.shape), finding.place->text());
      finding.parties.push_back(
          {std::string(info(first->first->op).name),
           fmt::format("{} wrote {}", info(first->first->op).name, to_text(Operand(first->first->tensor))),
           first->first->stack,
           {}});
    } else {
      finding.what = fmt::format("{} reads bytes that {}: {}", info(op).name,
                                 state >= Shadow::kFirstLaunch && state != Shadow::kLastLaunch
                                     ? "were written by an earlier launch only"
                                     : "nobody has written",
                                 finding.place->text());
    }
    finding.parties.push_back(
        party_of(*chip_, {op, use.name, false, &use.tensor}, span.space, span.begin + at, capture_call_stack()));
    findings_->add(finding);
  }

  // The latest tensor at the same address whose layout has room for the byte but no element there, and the direction it
  // is missing in.
  std::optional<std::pair<const LocalWrite*, const char*>> tail_of(const Tensor& read, std::uint64_t byte) const {
    if (read.space != Space::kLocal) return std::nullopt;
    for (auto write = writes_.rbegin(); write != writes_.rend(); ++write) {
      const Tensor& tensor = write->tensor;
      if (!tensor.natural || tensor.addr != read.addr) continue;
      if (const char* direction = missing_in(tensor, byte)) return std::pair(&*write, direction);
    }
    return std::nullopt;
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

  void mark(Op op, const OperandUse& use) {
    const CallStack here = capture_call_stack();
    if (use.tensor.space == Space::kLocal) note_smaller(op, use.tensor, here);
    for_each_used_span(*chip_, use, [&](const Span& span) {
      if (std::uint8_t* states = shadow_->find(span)) std::memset(states, expected(span), span.end - span.begin);
    });
    if (use.tensor.space != Space::kLocal) return;
    writes_.push_back({op, use.tensor, here});
    if (writes_.size() > kMostWrites) writes_.pop_front();
  }

  // A loop that the compiler has unrolled has several calls for one line of the source.
  bool is_same_call(const CallStack& a, const CallStack& b) {
    if (a == b) return true;
    const auto line_of = [&](const CallStack& stack) -> const SourceLine& {
      const auto [place, is_new] = lines_.try_emplace(stack.frames);
      if (is_new) place->second = find_caller(stack);
      return place->second;
    };
    const SourceLine& line = line_of(a);
    return line.line > 0 && line == line_of(b);
  }

  // A tensor that the same call wrote to the same place and that was larger leaves a tail, unless somebody has written
  // there since.
  void note_smaller(Op op, const Tensor& tensor, const CallStack& here) {
    for (auto write = writes_.rbegin(); write != writes_.rend(); ++write) {
      if (write->op == op && write->tensor.addr == tensor.addr) {
        if (!is_smaller(tensor, write->tensor) || !is_same_call(write->stack, here)) return;
        for_each_span(*chip_, write->tensor, [&](const Span& span) {
          if (std::uint8_t* states = shadow_->find(span)) std::memset(states, Shadow::kStale, span.end - span.begin);
        });
        return;
      }
      // Overwritten as a whole or in part by another call since: its bytes are meant.
      if (may_overlap(*chip_, write->tensor, tensor)) return;
    }
  }

  std::shared_ptr<Findings> findings_;
  std::shared_ptr<Shadow> shadow_;
  std::shared_ptr<AllocationTable> allocations_;
  const Chip* chip_ = nullptr;
  std::deque<LocalWrite> writes_;
  bool anywhere_ = false;  // the kernels' own code may write all of global memory
  std::map<std::array<const void*, 16>, SourceLine> lines_;
};

}  // namespace

std::shared_ptr<Observer> make_init_check(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow,
                                          std::shared_ptr<AllocationTable> allocations) {
  return std::make_shared<InitCheck>(std::move(findings), std::move(shadow), std::move(allocations));
}

}  // namespace softtpu
