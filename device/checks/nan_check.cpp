#include "device/checks/nan_check.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <utility>

#include "device/checks/describe.hpp"
#include "device/footprint/operand_use.hpp"
#include "device/memory/memories.hpp"
#include "device/memory/overlap.hpp"

namespace softtpu {
namespace {

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
    made_nan_.reset();
    made_infinite_.reset();
    reported_nan_ = reported_infinite_ = false;
  }

  // Called by NanOperands.
  void look_at_operands(Op op, const Command& command) {
    settle(op);
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
    for_each_use(command, [&](OperandUse use) {
      if (!use.reads || !is_lost(command, use.tensor)) return;
      if (use.writes) use.role = {};
      scan(use, given_);
    });
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
      if (made.nan && !given_.nan && !reported_nan_ && !made_nan_) {
        made_nan_ = make("nan/nan", Kind::kNan, op, use, made.nan_space, *made.nan);
      }
      if (made.infinite && !given_.infinite && !given_.nan && !reported_infinite_ && !made_infinite_) {
        made_infinite_ = make("nan/infinity", Kind::kInfinite, op, use, made.infinite_space, *made.infinite);
      }
    });
  }

  void launch_ends(const std::string&) override {
    settle(made_nan_, reported_nan_);
    settle(made_infinite_, reported_infinite_);
    findings_->report();
  }

 private:
  // Whether the command, or another core, may change an operand. Few results are unusual, and only then do the other
  // operands matter: these are looked at afterwards.
  bool is_lost(const Command& command, const Tensor& operand) const {
    if (!is_float(operand.dtype)) return false;
    bool lost = operand.space == Space::kSystem;
    for_each_tensor(command, [&](std::uint32_t, Access access, const char*, const Tensor& tensor) {
      lost = lost || (access != Access::kRead && may_overlap(memories_->chip(), operand, tensor));
    });
    return lost;
  }
  void look_at_others(const Command& command) {
    for_each_use(command, [&](const OperandUse& use) {
      if (use.reads && !is_lost(command, use.tensor)) scan(use, given_);
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

  // A value that a command has made, with the finding that it is.
  struct Made {
    Finding finding;
    Op function;  // that the kernel called
    Kind kind;
    Dtype dtype;
    SpanSpace space;
    std::uint64_t at;
  };

  Made make(const char* rule, Kind kind, Op op, const OperandUse& use, SpanSpace space, std::uint64_t at) const {
    const Chip& chip = memories_->chip();
    const CallStack here = capture_call_stack();
    const auto size = static_cast<std::uint64_t>(size_of(use.tensor.dtype));
    Finding finding;
    finding.rule = rule;
    finding.place = place_of(chip, space, at, at + size);
    finding.what = fmt::format("{} makes {} that its operands did not have{}", call_name(op, here),
                               kind == Kind::kNan ? "a NaN" : "an infinity", element_at(chip, use.tensor, space, at));
    finding.calls = {party_of(chip, {op, use.name, true, &use.tensor}, space, at, here)};
    return {std::move(finding), here.composite.value_or(op), kind, use.tensor.dtype, space, at};
  }

  // Functions of several commands have steps whose bits are no numbers (okk_bdc_exp builds exponents), and replace what
  // they cannot use: what a step has made counts when the function is over.
  void settle(Op next) {
    if (!made_nan_ && !made_infinite_) return;
    const Op function = capture_call_stack().composite.value_or(next);
    if (made_nan_ && made_nan_->function != function) settle(made_nan_, reported_nan_);
    if (made_infinite_ && made_infinite_->function != function) settle(made_infinite_, reported_infinite_);
  }
  void settle(std::optional<Made>& made, bool& reported) {
    if (!made) return;
    const auto size = static_cast<std::uint64_t>(size_of(made->dtype));
    const std::uint8_t* data = place(made->space, made->at, size);
    std::uint32_t bits = 0;
    if (data != nullptr) std::memcpy(&bits, data, size);
    if (kind_of(made->dtype, bits) == made->kind) {
      findings_->add(made->finding);
      reported = true;
    }
    made.reset();
  }

  std::shared_ptr<Findings> findings_;
  std::shared_ptr<Shadow> shadow_;  // null: writes are not followed
  const Memories* memories_ = nullptr;
  Unusual given_;
  bool has_looked_at_all_ = false;  // operands of the command
  std::optional<Made> made_nan_, made_infinite_;
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
