#include "device/checks/overwrite_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/footprint/local_map.hpp"
#include "device/footprint/operand_use.hpp"
#include "device/footprint/runs.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

// What is followed; beyond it, a tensor is forgotten.
constexpr std::size_t kMostTensors = 64;
constexpr std::size_t kMostPieces = 64;
constexpr std::int64_t kMostRows = 16384;

// Bytes [begin, end).
struct ByteRun {
  std::uint64_t begin = 0, end = 0;
};

// Bytes as runs in ascending order, none of which meets the next. Tensors have thousands of rows, of which each command
// asks for all: one vector is many times as fast as a tree of them.
class ByteSet {
 public:
  // In any order; normalise() before anything is asked.
  void append(ByteRun run) {
    if (!runs_.empty() && runs_.back().end == run.begin) {
      runs_.back().end = run.end;
    } else {
      runs_.push_back(run);
    }
  }
  void normalise() {
    if (!std::is_sorted(runs_.begin(), runs_.end(), begins_before))
      std::sort(runs_.begin(), runs_.end(), begins_before);
    join();
  }

  bool empty() const { return runs_.empty(); }
  auto begin() const { return runs_.begin(); }
  auto end() const { return runs_.end(); }

  ByteSet& operator+=(const ByteSet& other) {
    const auto own = static_cast<std::ptrdiff_t>(runs_.size());
    runs_.insert(runs_.end(), other.runs_.begin(), other.runs_.end());
    std::inplace_merge(runs_.begin(), runs_.begin() + own, runs_.end(), begins_before);
    join();
    return *this;
  }
  ByteSet& operator-=(const ByteSet& other) {
    std::vector<ByteRun> left;
    auto taken = other.runs_.begin();
    for (ByteRun run : runs_) {
      while (taken != other.runs_.end() && taken->end <= run.begin) ++taken;
      for (auto at = taken; at != other.runs_.end() && at->begin < run.end; ++at) {
        if (at->begin > run.begin) left.push_back({run.begin, at->begin});
        run.begin = std::max(run.begin, at->end);
        if (run.begin >= run.end) break;
      }
      if (run.begin < run.end) left.push_back(run);
    }
    runs_ = std::move(left);
    return *this;
  }
  friend ByteSet operator&(const ByteSet& a, const ByteSet& b) {
    ByteSet both;
    auto other = b.runs_.begin();
    for (const ByteRun& run : a.runs_) {
      while (other != b.runs_.end() && other->end <= run.begin) ++other;
      for (auto at = other; at != b.runs_.end() && at->begin < run.end; ++at)
        both.runs_.push_back({std::max(run.begin, at->begin), std::min(run.end, at->end)});
    }
    return both;
  }
  bool lies_within(const ByteSet& other) const {
    ByteSet outside = *this;
    outside -= other;
    return outside.empty();
  }

 private:
  static bool begins_before(const ByteRun& a, const ByteRun& b) { return a.begin < b.begin; }
  // Those in order that meet.
  void join() {
    std::size_t kept = 0;
    for (const ByteRun& run : runs_) {
      if (kept > 0 && run.begin <= runs_[kept - 1].end) {
        runs_[kept - 1].end = std::max(runs_[kept - 1].end, run.end);
      } else {
        runs_[kept++] = run;
      }
    }
    runs_.resize(kept);
  }

  std::vector<ByteRun> runs_;
};

// A call and the tensor that it writes.
struct Written {
  Op op{};
  OperandUse use;
  CallStack stack;
};

struct Live {
  Written by;
  LocalBlock box;
  std::vector<OperandUse> pieces;  // written inside it since
  // Since another tensor has damaged it: the bytes that are still its own, and those that are not.
  std::optional<Written> taker;
  ByteSet own, lost;
};

// Bytes of a living tensor that a command is about to write, and what they are now.
struct Threat {
  std::size_t tensor;  // index into tensors_
  ByteSet bytes;
  std::vector<std::uint8_t> values;
};

// Networks of BM1684 multiply whole channels of columns, whatever lies in those that nothing reads afterwards.
bool has_spare_columns(const Command& command, const OperandUse& use) {
  if (!submits_instructions() || std::string_view(use.name) == "left") return false;
  return std::holds_alternative<OkkMatmulCmd>(command) || std::holds_alternative<OkkByteMatmulCmd>(command);
}

class OverwriteCheck final : public Observer {
 public:
  explicit OverwriteCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    memories_ = &memories;
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    tensors_.clear();
  }

  void before(Op op, const Command& command) override {
    threats_.clear();
    for_each_use(command, [&](const OperandUse& use) {
      if (use.reads && use.role.all && !has_spare_columns(command, use)) read(op, use);
    });
    for_each_use(command, [&](const OperandUse& use) {
      if (use.writes) threaten(use);
    });
  }

  void after(Op op, const Command& command) override {
    const std::size_t old = tensors_.size();
    for_each_use(command, [&](const OperandUse& use) {
      if (use.writes) write(op, use, old);
    });
    std::erase_if(tensors_, [](const Live& tensor) { return tensor.box.npus == 0; });
    while (tensors_.size() > kMostTensors) tensors_.pop_front();
  }

  // What the kernel's own code writes cannot be distinguished from what was there.
  void pointer(Op, Space space, std::uint64_t) override {
    if (space == Space::kLocal) tensors_.clear();
  }

  void launch_ends(const std::string&) override {
    tensors_.clear();
    findings_->report();
  }

 private:
  static bool has_few_rows(const Tensor& tensor) {
    const Dim4& shape = tensor.shape;
    const std::int64_t rows = std::int64_t{shape.n} * shape.c * shape.h;
    return (tensor.stride.w == 1 || shape.w == 1 ? rows : rows * shape.w) <= kMostRows;
  }

  ByteSet bytes_of(const OperandUse& use) const {
    ByteSet bytes;
    const auto append = [&](const Span& span) {
      if (span.space == SpanSpace::kLocal && span.begin < span.end) bytes.append({span.begin, span.end});
    };
    if (!is_whole(use)) {
      for_each_used_span(*chip_, use, append);
    } else {
      const SpanSpace space = find_runs(*chip_, use.tensor, runs_);
      // Lane by lane, as the bytes lie: nothing is left to sort then.
      for (std::uint64_t lane = 1; lane != 0; lane <<= 1) {
        for (LaneRun run : runs_) {
          run.lanes &= lane;
          if (run.lanes != 0) for_each_lane(*chip_, space, run, append);
        }
      }
    }
    bytes.normalise();
    return bytes;
  }

  static void forget(Live& tensor) { tensor.box.npus = 0; }

  bool is_window(const Tensor& tensor) const {
    return tensor.space == Space::kSystem && chip_->local_mem.contains(tensor.addr);
  }

  // Neither inside of the other: one of them takes what the other has.
  static bool is_taken(const Live& tensor, const LocalBlock& box) {
    return box.meets(tensor.box) && !box.covers(tensor.box) && !tensor.box.covers(box);
  }

  void threaten(const OperandUse& use) {
    const auto box = box_of(*chip_, use.tensor);
    if (!box) return;
    std::optional<ByteSet> written;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      Live& tensor = tensors_[i];
      if (!is_taken(tensor, *box)) continue;
      if (!has_few_rows(use.tensor) || !has_few_rows(tensor.by.use.tensor)) {
        forget(tensor);
        continue;
      }
      if (!written) written = bytes_of(use);
      Threat threat{i, bytes_of(tensor.by.use) & *written, {}};
      for (const ByteRun& part : threat.bytes) {
        const std::uint8_t* data = memories_->local(0) + part.begin;
        threat.values.insert(threat.values.end(), data, data + (part.end - part.begin));
      }
      if (!threat.values.empty()) threats_.push_back(std::move(threat));
    }
  }

  // Those bytes of the threatened ones that have another value now.
  ByteSet changed(const Threat& threat) const {
    ByteSet bytes;
    std::size_t seen = 0;
    for (const ByteRun& part : threat.bytes) {
      for (std::uint64_t at = part.begin; at < part.end; ++at, ++seen) {
        if (memories_->local(0)[at] != threat.values[seen]) bytes.append({at, at + 1});
      }
    }
    return bytes;
  }

  void write(Op op, const OperandUse& use, std::size_t old) {
    if (is_window(use.tensor)) return tensors_.clear();
    auto box = box_of(*chip_, use.tensor);
    if (!box) return;
    const Written self{op, use, capture_call_stack()};
    for (std::size_t i = 0; i < std::min(old, tensors_.size()); ++i) {
      Live& tensor = tensors_[i];
      if (tensor.box.npus == 0 || !box->meets(tensor.box)) continue;
      if (box->covers(tensor.box)) {
        forget(tensor);
      } else if (tensor.box.covers(*box)) {
        fill(tensor, use);
      } else {
        take(i, self);
      }
    }
    // Where data decides what is written, the rest still belongs to the earlier writer.
    if (use.role.all) tensors_.push_back({self, *std::move(box), {}, {}, {}, {}});
  }

  void fill(Live& tensor, const OperandUse& piece) {
    if (tensor.taker) {
      const ByteSet bytes = bytes_of(piece);
      tensor.own -= bytes;
      tensor.lost -= bytes;
      if (tensor.own.empty() || tensor.lost.empty()) forget(tensor);
      return;
    }
    tensor.pieces.push_back(piece);
    if (tensor.pieces.size() > kMostPieces) forget(tensor);
  }

  void take(std::size_t index, const Written& self) {
    Live& tensor = tensors_[index];
    const auto threat =
        std::find_if(threats_.begin(), threats_.end(), [&](const Threat& known) { return known.tensor == index; });
    if (threat == threats_.end()) return;  // their bytes lie between each other
    // Tiles of one tensor may have rows in common, with the same values from both.
    const bool may_agree = tensor.by.op == self.op || !self.use.role.all;
    const ByteSet lost = may_agree ? changed(*threat) : threat->bytes;
    if (lost.empty()) return fill(tensor, self.use);
    if (!tensor.taker) {
      tensor.own = bytes_of(tensor.by.use);
      for (const OperandUse& piece : tensor.pieces) tensor.own -= bytes_of(piece);
      tensor.pieces.clear();
    }
    tensor.own -= bytes_of(self.use);
    tensor.lost += lost;
    tensor.taker = self;
    if (tensor.own.empty()) forget(tensor);
  }

  void read(Op op, const OperandUse& use) {
    const auto box = box_of(*chip_, use.tensor);
    if (!box) return;
    for (Live& tensor : tensors_) {
      if (!tensor.taker || tensor.box.npus == 0 || !tensor.box.covers(*box)) continue;
      if (!has_few_rows(use.tensor)) continue;
      const ByteSet bytes = bytes_of(use);
      const ByteSet lost = bytes & tensor.lost;
      if (lost.empty() || (bytes & tensor.own).empty() || !bytes.lies_within(bytes_of(tensor.by.use))) continue;
      report(op, use, tensor, *lost.begin());
      forget(tensor);
    }
  }

  void report(Op op, const OperandUse& use, const Live& tensor, const ByteRun& lost) {
    const CallStack here = capture_call_stack();
    Finding finding;
    finding.rule = "memory/overwritten";
    finding.place = place_of(*chip_, SpanSpace::kLocal, lost.begin, lost.end);
    const auto party = [&](const Written& by, const char* verb) {
      const std::string function = call_name(by.op, by.stack);
      return Party{function,
                   fmt::format("{} {} {} {}", function, verb, by.use.name, to_text(Operand(by.use.tensor))),
                   by.stack,
                   {}};
    };
    finding.what =
        fmt::format("{} overwrites a part of a tensor that {} reads afterwards: {}",
                    call_name(tensor.taker->op, tensor.taker->stack), call_name(op, here), finding.place->text());
    finding.calls = {party(tensor.by, "wrote"), party(*tensor.taker, "overwrites a part with"),
                     party_of(*chip_, {op, use.name, false, &use.tensor}, SpanSpace::kLocal, lost.begin, here)};
    findings_->add(finding);
  }

  mutable std::vector<LaneRun> runs_;  // of the tensor that is looked at
  std::shared_ptr<Findings> findings_;
  const Memories* memories_ = nullptr;
  const Chip* chip_ = nullptr;
  std::deque<Live> tensors_;
  std::vector<Threat> threats_;  // of the command that is carried out
};

}  // namespace

std::shared_ptr<Observer> make_overwrite_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<OverwriteCheck>(std::move(findings));
}

}  // namespace softtpu
