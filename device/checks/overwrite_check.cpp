#include "device/checks/overwrite_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/command/instruction_scope.hpp"
#include "device/footprint/lane_set.hpp"
#include "device/footprint/local_map.hpp"
#include "device/footprint/operand_use.hpp"
#include "device/memory/memories.hpp"

namespace softtpu {
namespace {

// What is followed; beyond it, a tensor is forgotten.
constexpr std::size_t kMostTensors = 64;
constexpr std::size_t kMostPieces = 64;
constexpr std::int64_t kMostRows = 16384;
constexpr std::size_t kMostKnown = 512;

// A call and the tensor that it writes.
struct Written {
  Op op{};
  OperandUse use;
  CallStack stack;
};

struct Live {
  Written by;
  std::vector<OperandUse> pieces;  // written inside it since
  // Since another tensor has damaged it: the bytes that are still its own, and those that are not.
  std::optional<Written> taker;
  LaneSet own, lost;
};

// Most of what is asked of a tensor its place answers: places lie side by side, tensors are large.
struct LivePlace {
  LocalBox box;  // no NPUs: forgotten
  std::unique_ptr<Live> tensor;
};

// Bytes of a living tensor that a command is about to write, and what they are now if that matters.
struct Threat {
  const Live* tensor;
  LaneSet bytes;
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
    clear();
  }

  void before(Op op, const Command& command) override {
    threats_.clear();
    if (is_one_damaged_) {
      for_each_use(command, [&](const OperandUse& use) {
        if (use.reads && use.role.all && !has_spare_columns(command, use)) read(op, use);
      });
    }
    for_each_use(command, [&](const OperandUse& use) {
      if (use.writes) threaten(op, use);
    });
  }

  void after(Op op, const Command& command) override {
    const std::size_t old = tensors_.size();
    for_each_use(command, [&](const OperandUse& use) {
      if (use.writes) write(op, use, old);
    });
    if (std::exchange(is_one_forgotten_, false))
      std::erase_if(tensors_, [](const LivePlace& place) { return place.box.npus == 0; });
    if (tensors_.size() > kMostTensors)
      tensors_.erase(tensors_.begin(), tensors_.end() - static_cast<std::ptrdiff_t>(kMostTensors));
  }

  // What the kernel's own code writes cannot be distinguished from what was there.
  void pointer(Op, Space space, std::uint64_t) override {
    if (space == Space::kLocal) clear();
  }

  void launch_ends(const std::string&) override {
    clear();
    findings_->report();
  }

 private:
  void clear() {
    tensors_.clear();
    threats_.clear();
    is_one_damaged_ = is_one_forgotten_ = false;
  }

  static bool has_few_rows(const Tensor& tensor) {
    const Dim4& shape = tensor.shape;
    const std::int64_t rows = std::int64_t{shape.n} * shape.c * shape.h;
    return (tensor.stride.w == 1 || shape.w == 1 ? rows : rows * shape.w) <= kMostRows;
  }

  // The same tensors come again in each launch: the last ones are kept.
  std::shared_ptr<const LaneSet> bytes_of(const OperandUse& use) {
    Known& known = known_[hash_of(use.tensor) % kMostKnown];
    const std::pair role(use.role.lanes, use.role.last_channel);
    if (known.bytes != nullptr && known.role == role && known.tensor == use.tensor) return known.bytes;
    std::vector<LaneRun> runs;
    for_each_used_run(*chip_, use, [&](SpanSpace space, const LaneRun& run) {
      if (space == SpanSpace::kLocal) runs.push_back(run);
    });
    constexpr std::ptrdiff_t kMostRuns = 1024;  // of one that is kept
    auto bytes = std::make_shared<const LaneSet>(std::move(runs));
    if (bytes->end() - bytes->begin() <= kMostRuns) known = {use.tensor, role, bytes};
    return bytes;
  }

  void forget(LivePlace& place) {
    place.box = {};
    is_one_forgotten_ = true;
  }

  bool is_window(const Tensor& tensor) const {
    return tensor.space == Space::kSystem && chip_->local_mem.contains(tensor.addr);
  }

  // Neither inside of the other: one of them takes what the other has.
  static bool is_taken(const LocalBox& tensor, const LocalBox& box) {
    return box.meets(tensor) && !box.covers(tensor) && !tensor.covers(box);
  }

  // Tiles of one tensor may have rows in common, with the same values from both.
  static bool may_agree(const Live& tensor, Op op, const OperandUse& use) {
    return tensor.by.op == op || !use.role.all;
  }

  void threaten(Op op, const OperandUse& use) {
    const auto box = box_of(*chip_, use.tensor);
    if (!box) return;
    std::shared_ptr<const LaneSet> written;
    for (LivePlace& place : tensors_) {
      if (!is_taken(place.box, *box)) continue;
      const Live& tensor = *place.tensor;
      if (!has_few_rows(use.tensor) || !has_few_rows(tensor.by.use.tensor)) {
        forget(place);
        continue;
      }
      if (written == nullptr) written = bytes_of(use);
      Threat threat{&tensor, *bytes_of(tensor.by.use) & *written, {}};
      if (threat.bytes.empty()) continue;
      if (may_agree(tensor, op, use)) {
        for (const LaneRun& run : threat.bytes) {
          for_each_lane(*chip_, SpanSpace::kLocal, run, [&](const Span& span) {
            const std::uint8_t* data = memories_->local(0);
            threat.values.insert(threat.values.end(), data + span.begin, data + span.end);
          });
        }
      }
      threats_.push_back(std::move(threat));
    }
  }

  // Those bytes of the threatened ones that have another value now.
  LaneSet changed(const Threat& threat) const {
    LaneSet changed;
    const std::uint8_t* before = threat.values.data();
    std::vector<std::uint64_t> lanes;
    for (const LaneRun& run : threat.bytes) {
      lanes.assign(run.end - run.begin, 0);
      for_each_lane(*chip_, SpanSpace::kLocal, run, [&](const Span& span) {
        const std::uint8_t* const now = memories_->local(0) + span.begin;
        const std::uint64_t lane = run_of(*chip_, span).lanes;
        if (std::memcmp(now, before, lanes.size()) != 0) {
          for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] |= now[i] != before[i] ? lane : 0;
        }
        before += lanes.size();
      });
      for (std::size_t i = 0; i < lanes.size(); ++i) changed.append({run.begin + i, run.begin + i + 1, lanes[i]});
    }
    return changed;
  }

  void write(Op op, const OperandUse& use, std::size_t old) {
    if (is_window(use.tensor)) return clear();
    const auto box = box_of(*chip_, use.tensor);
    if (!box) return;
    for (std::size_t i = 0; i < std::min(old, tensors_.size()); ++i) {
      LivePlace& place = tensors_[i];
      if (!box->meets(place.box)) continue;
      if (box->covers(place.box)) {
        forget(place);
      } else if (place.box.covers(*box)) {
        fill(place, use);
      } else {
        take(place, op, use);
      }
    }
    // Where data decides what is written, the rest still belongs to the earlier writer.
    if (use.role.all)
      tensors_.push_back({*box, std::make_unique<Live>(Live{{op, use, capture_call_stack()}, {}, {}, {}, {}})});
  }

  void fill(LivePlace& place, const OperandUse& piece) {
    Live& tensor = *place.tensor;
    if (tensor.taker) {
      const auto bytes = bytes_of(piece);
      tensor.own -= *bytes;
      tensor.lost -= *bytes;
      if (tensor.own.empty() || tensor.lost.empty()) forget(place);
      return;
    }
    tensor.pieces.push_back(piece);
    if (tensor.pieces.size() > kMostPieces) forget(place);
  }

  void take(LivePlace& place, Op op, const OperandUse& use) {
    Live& tensor = *place.tensor;
    const auto threat =
        std::find_if(threats_.begin(), threats_.end(), [&](const Threat& known) { return known.tensor == &tensor; });
    if (threat == threats_.end()) return;  // their bytes lie between each other
    const LaneSet lost = may_agree(tensor, op, use) ? changed(*threat) : threat->bytes;
    if (lost.empty()) return fill(place, use);
    if (!tensor.taker) {
      tensor.own = *bytes_of(tensor.by.use);
      for (const OperandUse& piece : tensor.pieces) tensor.own -= *bytes_of(piece);
      tensor.pieces.clear();
    }
    tensor.own -= *bytes_of(use);
    tensor.lost += lost;
    tensor.taker = Written{op, use, capture_call_stack()};
    is_one_damaged_ = true;
    if (tensor.own.empty()) forget(place);
  }

  void read(Op op, const OperandUse& use) {
    const auto box = box_of(*chip_, use.tensor);
    if (!box) return;
    for (LivePlace& place : tensors_) {
      if (!place.box.covers(*box) || !place.tensor->taker) continue;
      const Live& tensor = *place.tensor;
      if (!has_few_rows(use.tensor)) continue;
      const auto bytes = bytes_of(use);
      const LaneSet lost = *bytes & tensor.lost;
      if (lost.empty() || (*bytes & tensor.own).empty() || !bytes->lies_within(*bytes_of(tensor.by.use))) continue;
      report(op, use, tensor, lost);
      forget(place);
    }
  }

  void report(Op op, const OperandUse& use, const Live& tensor, const LaneSet& all_lost) {
    const CallStack here = capture_call_stack();
    Span lost;
    for_each_lane(*chip_, SpanSpace::kLocal, all_lost.first_of_lane(), [&](const Span& span) { lost = span; });
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

  std::shared_ptr<Findings> findings_;
  const Memories* memories_ = nullptr;
  const Chip* chip_ = nullptr;
  struct Known {
    Tensor tensor;
    std::pair<int, int> role;
    std::shared_ptr<const LaneSet> bytes;
  };
  std::vector<Known> known_ = std::vector<Known>(kMostKnown);
  std::vector<LivePlace> tensors_;
  bool is_one_forgotten_ = false;  // of them
  bool is_one_damaged_ = false;    // or was in this launch
  std::vector<Threat> threats_;    // of the command that is carried out
};

}  // namespace

std::shared_ptr<Observer> make_overwrite_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<OverwriteCheck>(std::move(findings));
}

}  // namespace softtpu
