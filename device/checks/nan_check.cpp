#include "device/checks/nan_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/footprint/operand_use.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {
namespace {

// How many values may wait for what becomes of them.
constexpr std::size_t kMostWaiting = 16;

enum class Kind { kFinite, kInfinite, kNan };

// By the bits: the largest exponent, with or without a fraction.
Kind kind_of(std::uint32_t bits, std::uint32_t exponent, std::uint32_t fraction) {
  if ((bits & exponent) != exponent) return Kind::kFinite;
  return (bits & fraction) == 0 ? Kind::kInfinite : Kind::kNan;
}
Kind kind_of(Dtype type, std::uint32_t bits) {
  switch (type) {
    case Dtype::kFp32: return kind_of(bits, 0x7F800000, 0x007FFFFF);
    case Dtype::kFp16: return kind_of(bits, 0x7C00, 0x03FF);
    case Dtype::kBfp16: return kind_of(bits, 0x7F80, 0x007F);
    default: return Kind::kFinite;
  }
}

// Whether elements are NaN or infinite, and where the first of each is.
struct Unusual {
  std::optional<std::uint64_t> nan, infinite;
  SpanSpace nan_space{}, infinite_space{};
  bool of_results = false;

  void see(Kind kind, SpanSpace space, std::uint64_t at) {
    if (kind == Kind::kNan && !nan) {
      nan = at;
      nan_space = space;
    } else if (kind == Kind::kInfinite && !infinite) {
      infinite = at;
      infinite_space = space;
    }
  }
};

// Whether a span holds no NaN and no infinity: the usual case, in a loop that compilers turn into vectors.
template <class Word>
bool is_finite(const std::uint8_t* data, std::uint64_t count, Word exponent) {
  constexpr std::uint64_t kBlock = 64;  // words, whose number has to be known for that
  Word found = 0;                       // as wide as the words, for the same
  const auto look = [&](std::uint64_t first, std::uint64_t words) {
    for (std::uint64_t i = first; i < first + words; ++i) {
      Word bits = 0;
      std::memcpy(&bits, data + i * sizeof bits, sizeof bits);
      found = static_cast<Word>(found | ((bits & exponent) == exponent ? 1 : 0));
    }
  };
  std::uint64_t at = 0;
  for (; at + kBlock <= count; at += kBlock) look(at, kBlock);
  look(at, count - at);
  return found == 0;
}
bool is_finite(Dtype type, const std::uint8_t* data, std::uint64_t bytes) {
  switch (type) {
    case Dtype::kFp32: return is_finite<std::uint32_t>(data, bytes / 4, 0x7F800000);
    case Dtype::kFp16: return is_finite<std::uint16_t>(data, bytes / 2, 0x7C00);
    case Dtype::kBfp16: return is_finite<std::uint16_t>(data, bytes / 2, 0x7F80);
    default: return true;
  }
}

class NanCheck final : public Observer {
 public:
  NanCheck(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow)
      : findings_(std::move(findings)), shadow_(std::move(shadow)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    memories_ = &memories;
    findings_->begin(kernel, core);
    made_.clear();
    reported_nan_ = reported_infinite_ = false;
  }

  // Called by NanOperands.
  void look_at_operands(Op op, const Command& command) {
    settle(op, command);
    given_ = {};
    if (reported_nan_ && reported_infinite_) return;
    const auto look = [&](Access, const char*, const Operand& operand) {
      if (const auto* scalar = std::get_if<Scalar>(&operand))
        given_.see(kind_of(scalar->dtype, scalar->bits), SpanSpace::kLocal, 0);
    };
    for_each_operand(command, look);
    // What a comparison gives may be the bits of a NaN: a mask.
    if (const auto* compare = std::get_if<CompareCmd>(&command))
      given_.see(kind_of(compare->dst.dtype, compare->true_val.bits), SpanSpace::kLocal, 0);
    uses_.clear();
    for_each_use(command, [&](const OperandUse& use) { uses_.push_back(use); });
    for (OperandUse& use : uses_) {
      if (!use.reads || !is_lost(use.tensor)) continue;
      if (use.writes) use.role = {};
      scan(use, given_);
    }
    has_looked_at_all_ = false;
  }

  void after(Op op, const Command& command) override {
    if (reported_nan_ && reported_infinite_) return;
    // The words of a table may be no floats: bytes of layers of 8-bit integers.
    if (std::holds_alternative<OkkTableCmd>(command)) return;
    for_each_use(command, [&](const OperandUse& use) {
      if (!use.writes) return;
      Unusual made;
      made.of_results = true;
      scan(use, made);
      if ((made.nan || made.infinite) && !std::exchange(has_looked_at_all_, true)) look_at_others(command);
      if (made.nan && !given_.nan && !reported_nan_) note_made(Kind::kNan, op, use, made.nan_space, *made.nan);
      if (made.infinite && !given_.infinite && !given_.nan && !reported_infinite_)
        note_made(Kind::kInfinite, op, use, made.infinite_space, *made.infinite);
    });
  }

  void launch_ends(const std::string&) override {
    for (const Made& made : made_) {
      if (!made.waits_for_reader()) report(made, made.at);
    }
    findings_->report();
  }

 private:
  // Whether the command, or another core, may change an operand. Few results are unusual, and only then do the other
  // operands matter: these are looked at afterwards.
  bool is_lost(const Tensor& operand) const {
    if (!is_float(operand.dtype)) return false;
    return operand.space == Space::kSystem || std::any_of(uses_.begin(), uses_.end(), [&](const OperandUse& use) {
             return use.writes && may_overlap(memories_->chip(), operand, use.tensor);
           });
  }
  void look_at_others(const Command& command) {
    for_each_use(command, [&](const OperandUse& use) {
      if (use.reads && !is_lost(use.tensor)) scan(use, given_);
    });
  }

  const std::uint8_t* place(SpanSpace space, std::uint64_t begin, std::uint64_t bytes) const {
    if (space == SpanSpace::kLocal) return memories_->local(0) + begin;
    if (space == SpanSpace::kStatic) return memories_->static_mem() + begin;
    return memories_->find_system(begin, bytes).data;
  }

  bool is_all_finite(const OperandUse& use) const {
    bool finite = true;
    for_each_used_run(memories_->chip(), use, [&](SpanSpace space, const LaneRun& run) {
      for_each_lane(memories_->chip(), space, run, [&](const Span& span) {
        const std::uint64_t bytes = span.end - span.begin;
        const std::uint8_t* data = finite ? place(span.space, span.begin, bytes) : nullptr;
        finite = finite && (data == nullptr || is_finite(use.tensor.dtype, data, bytes));
      });
    });
    return finite;
  }
  void scan(const OperandUse& use, Unusual& seen) const {
    if (!is_float(use.tensor.dtype) || is_all_finite(use)) return;
    for_each_used_span(memories_->chip(), use, [&](const Span& span) { scan(use.tensor.dtype, span, seen); });
  }
  void scan(Dtype type, const Span& span, Unusual& seen) const {
    const std::uint8_t* data = place(span.space, span.begin, span.end - span.begin);
    if (data == nullptr || (seen.nan && seen.infinite) || is_finite(type, data, span.end - span.begin)) return;
    const auto size = static_cast<std::uint64_t>(size_of(type));
    for (std::uint64_t at = span.begin; at + size <= span.end; at += size) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, data + (at - span.begin), size);
      const Kind kind = kind_of(type, bits);
      if (kind != Kind::kFinite && (!seen.of_results || holds_data(span.space, at))) seen.see(kind, span.space, at);
    }
  }

  // What is computed from bytes that nothing has written, behind a tensor's last column, is no result.
  bool holds_data(SpanSpace space, std::uint64_t at) const {
    const bool is_followed = shadow_ != nullptr && space == SpanSpace::kLocal;
    return !is_followed || *shadow_->find({space, at, at + 1}) >= Shadow::kFirstLaunch;
  }

  // A value that a command has made of operands that had none. It waits for what becomes of it.
  struct Made {
    Kind kind;
    Op op;
    CallStack stack;
    OperandUse use;  // what the command wrote
    SpanSpace space;
    std::uint64_t at;
    std::vector<LaneRun> runs;  // of what waits for a reader
    // An instruction of a network has computed it in local memory, where a result does not stay.
    bool waits_for_reader() const { return !stack.step.empty() && space == SpanSpace::kLocal; }
    Op function() const { return stack.composite.value_or(op); }
  };

  // Of a kernel one value of each kind waits.
  bool may_wait(Kind kind) {
    if (made_.size() >= kMostWaiting) std::erase_if(made_, [&](const Made& made) { return !is_there(made); });
    return made_.size() < kMostWaiting && std::ranges::none_of(made_, [kind](const Made& made) {
             return made.kind == kind && !made.waits_for_reader();
           });
  }
  void note_made(Kind kind, Op op, const OperandUse& use, SpanSpace space, std::uint64_t at) {
    if (!may_wait(kind)) return;
    Made made{kind, op, capture_call_stack(), use, space, at, {}};
    if (made.waits_for_reader()) made.runs = runs_of(memories_->chip(), use.tensor).runs;
    made_.push_back(std::move(made));
  }

  // Functions of several commands have steps whose bits are no numbers (okk_bdc_exp builds exponents), and replace what
  // they cannot use: what a step has made counts when the function is over. Networks compute in lanes that nothing
  // reads: what an instruction has made counts when another one reads it.
  void settle(Op next, const Command& command) {
    if (made_.empty()) return;
    const Op function = capture_call_stack().composite.value_or(next);
    std::erase_if(made_, [&](const Made& made) {
      if (!made.waits_for_reader() && made.function() == function) return false;
      const auto at = made.waits_for_reader() ? find_read(made, command) : made.at;
      if (!at) return false;
      report(made, *at);
      return true;
    });
  }
  // Where the command reads such a value.
  std::optional<std::uint64_t> find_read(const Made& made, const Command& command) const {
    const Chip& chip = memories_->chip();
    const auto size = static_cast<std::uint64_t>(size_of(made.use.tensor.dtype));
    std::optional<std::uint64_t> found;
    for_each_use(command, [&](const OperandUse& use) {
      if (found || !use.reads || !may_overlap(chip, use.tensor, made.use.tensor)) return;
      for_each_used_run(chip, use, [&](SpanSpace space, const LaneRun& read) {
        if (space != made.space) return;
        for (const LaneRun& run : made.runs) {
          const std::uint64_t begin = std::max(run.begin, read.begin);
          const LaneRun both{begin + (run.end - begin) % size, std::min(run.end, read.end), run.lanes & read.lanes};
          if (both.begin >= both.end) continue;
          for_each_lane(chip, space, both, [&](const Span& span) {
            for (std::uint64_t at = span.begin; !found && at + size <= span.end; at += size) {
              if (has(made, at) && holds_data(space, at)) found = at;
            }
          });
        }
      });
    });
    return found;
  }
  bool has(const Made& made, std::uint64_t at) const {
    const auto size = static_cast<std::uint64_t>(size_of(made.use.tensor.dtype));
    const std::uint8_t* data = place(made.space, at, size);
    std::uint32_t bits = 0;
    if (data != nullptr) std::memcpy(&bits, data, size);
    return kind_of(made.use.tensor.dtype, bits) == made.kind;
  }
  bool is_there(const Made& made) const { return has(made, made.at); }

  void report(const Made& made, std::uint64_t at) {
    bool& reported = made.kind == Kind::kNan ? reported_nan_ : reported_infinite_;
    if (reported || !has(made, at)) return;
    reported = true;
    const Chip& chip = memories_->chip();
    const Tensor& tensor = made.use.tensor;
    Finding finding;
    finding.rule = made.kind == Kind::kNan ? "nan/nan" : "nan/infinity";
    finding.place = place_of(chip, made.space, at, at + static_cast<std::uint64_t>(size_of(tensor.dtype)));
    finding.what =
        fmt::format("{} makes {} that its operands did not have{}", call_name(made.op, made.stack),
                    made.kind == Kind::kNan ? "a NaN" : "an infinity", element_at(chip, tensor, made.space, at));
    finding.calls = {party_of(chip, {made.op, made.use.name, true, &tensor}, made.space, at, made.stack)};
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  std::shared_ptr<Shadow> shadow_;  // null: writes are not followed
  const Memories* memories_ = nullptr;
  std::vector<OperandUse> uses_;  // of the command
  Unusual given_;
  bool has_looked_at_all_ = false;  // operands of the command
  std::vector<Made> made_;          // and not settled
  bool reported_nan_ = false, reported_infinite_ = false;
};

class NanOperands final : public Observer {
 public:
  explicit NanOperands(std::shared_ptr<NanCheck> check) : check_(std::move(check)) {}
  void before(Op op, const Command& command) override { check_->look_at_operands(op, command); }

 private:
  std::shared_ptr<NanCheck> check_;
};

}  // namespace

NanObservers make_nan_check(std::shared_ptr<Findings> findings, std::shared_ptr<Shadow> shadow) {
  auto check = std::make_shared<NanCheck>(std::move(findings), std::move(shadow));
  return {check, std::make_shared<NanOperands>(check)};
}

}  // namespace softtpu
