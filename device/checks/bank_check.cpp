#include "device/checks/bank_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "device/checks/describe.hpp"
#include "device/timing/launch_clock.hpp"

namespace softtpu {
namespace {

// One operand's part of local memory.
struct Use {
  Op op;
  Engine engine;
  const char* name;
  bool writes;
  Tensor tensor;
  std::uint64_t banks;  // bit for bit
  double rows;          // accesses of whole rows of execution units in one NPU
  CallStack stack;
};

// A conflict that costs a smaller part of the launch's estimated time is not worth a note.
constexpr double kLeastShare = 0.01;

// What two operands of the same calls cost in one launch.
struct Conflict {
  Finding finding;
  double cycles = 0;
};

class BankCheck final : public Observer {
 public:
  BankCheck(std::shared_ptr<Findings> findings, std::unique_ptr<CostModel> model) : findings_(std::move(findings)) {
    if (model != nullptr) clock_.emplace(std::move(model));
  }

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    if (clock_) clock_->begin();
    conflicts_.clear();
    close();
  }

  void after(Op op, const Command& command) override {
    if (clock_) clock_->add(op, command);
  }

  void before(Op op, const Command& command) override {
    if (const auto* control = std::get_if<ControlCmd>(&command)) {
      const bool message =
          control->action == ControlAction::kSendMessage || control->action == ControlAction::kWaitMessage;
      if (message) return section_.clear();  // orders some of the commands
      close();
      open_ = control->action == ControlAction::kParallelStart;
      return;
    }
    const std::vector<Use> uses = uses_of(op, command);
    if (info(op).engine == Engine::kBdc) compare_operands(uses);
    if (!open_) return;
    for (const Use& use : uses) compare_section(use);
    section_.insert(section_.end(), uses.begin(), uses.end());
  }

  void launch_ends(const std::string&) override {
    close();
    for (const auto& [rule, conflicts] : conflicts_) tell(conflicts);
    findings_->report();
  }

 private:
  void close() {
    open_ = false;
    section_.clear();
  }

  std::vector<Use> uses_of(Op op, const Command& command) const {
    std::vector<Use> uses;
    const CallStack stack = capture_call_stack();
    for_each_tensor(command, [&](std::uint32_t, Access access, const char* name, const Tensor& tensor) {
      if (tensor.space != Space::kLocal) return;
      uses.push_back(
          {op, info(op).engine, name, access != Access::kRead, tensor, banks_of(tensor), rows_of(tensor), stack});
    });
    return uses;
  }

  std::uint64_t banks_of(const Tensor& tensor) const {
    std::uint64_t banks = 0;
    for_each_span(*chip_, tensor, [&](const Span& span) {
      const std::uint64_t first = span.begin % chip_->local_bytes / chip_->bank_bytes();
      const std::uint64_t last = (span.end - 1) % chip_->local_bytes / chip_->bank_bytes();
      for (std::uint64_t bank = first; bank <= last; ++bank) banks |= 1ULL << bank;
    });
    return banks;
  }

  double rows_of(const Tensor& tensor) const {
    const double channels = static_cast<double>((tensor.shape.c + chip_->npu_num - 1) / chip_->npu_num);
    const double bytes = static_cast<double>(tensor.shape.h) * tensor.shape.w * size_of(tensor.dtype);
    return tensor.shape.n * channels * std::max(1.0, bytes / chip_->eu_bytes);
  }

  // Two names for one tensor (in place) are one access pattern of the chip. What is repeated is read once.
  static bool may_conflict(const Use& a, const Use& b) {
    const bool repeated = a.tensor.shape.w > 1 && (a.tensor.stride.w == 0 || b.tensor.stride.w == 0);
    return a.tensor.addr != b.tensor.addr && !repeated && (a.banks & b.banks) != 0;
  }

  void compare_operands(const std::vector<Use>& uses) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      for (std::size_t j = i + 1; j < uses.size(); ++j) {
        if (!may_conflict(uses[i], uses[j])) continue;
        const double cost = std::min(uses[i].rows, uses[j].rows);
        report("bank/operands", uses[i], uses[j], cost,
               fmt::format("{} and {} of {} share", uses[i].name, uses[j].name, call_name(uses[j].op, uses[j].stack)));
        return;
      }
    }
  }

  void compare_section(const Use& use) {
    for (const Use& other : section_) {
      // The same tensor is a race, or ordered.
      const bool apart = other.tensor.addr != use.tensor.addr;
      if (other.engine == use.engine || !apart || (other.banks & use.banks) == 0) continue;
      report("bank/overlap", other, use, std::min(other.rows, use.rows),
             fmt::format("{} and {} work at the same time in", to_text(other.engine), to_text(use.engine)));
      return;
    }
  }

  // The same two operands of the same two calls are one conflict, however often.
  void report(const char* rule, const Use& a, const Use& b, double cost, const std::string& what) {
    const auto address = [](const Use& use) {
      return std::tuple(use.op, std::string_view(use.name), use.stack.frames);
    };
    const auto [place, is_new] = conflicts_[rule].try_emplace(std::pair(address(a), address(b)));
    place->second.cycles += cost;
    if (is_new) place->second.finding = describe(rule, a, b, what);
  }

  Finding describe(const char* rule, const Use& a, const Use& b, const std::string& what) const {
    const int bank = __builtin_ctzll(a.banks & b.banks);
    Finding finding;
    finding.rule = rule;
    finding.what = fmt::format("{} bank {}", what, bank);
    const std::uint64_t begin = std::uint64_t{chip_->bank_bytes()} * static_cast<unsigned>(bank);
    finding.place = ReportedRange{"local", begin, begin + chip_->bank_bytes(), chip_->npu_of(b.tensor.addr), bank};
    for (const Use* use : {&a, &b}) {
      const std::string function = call_name(use->op, use->stack);
      finding.calls.push_back({function,
                               fmt::format("{} {} {} {}", function, use->writes ? "writes" : "reads", use->name,
                                           to_text(Operand(use->tensor))),
                               use->stack,
                               {}});
    }
    return finding;
  }

  using Address = std::tuple<Op, std::string_view, std::array<const void*, 16>>;
  using Conflicts = std::map<std::pair<Address, Address>, Conflict>;

  void tell(const Conflicts& conflicts) {
    double cycles = 0;
    for (const auto& [calls, conflict] : conflicts) cycles += conflict.cycles;
    const double all_us = clock_ ? clock_->times().end().us : 0;
    const double share = all_us > 0 ? clock_->model().bdc_us(cycles) / all_us : 1;
    if (share < kLeastShare) return;
    const auto less = [](const auto& a, const auto& b) { return a.second.cycles < b.second.cycles; };
    Finding finding = std::max_element(conflicts.begin(), conflicts.end(), less)->second.finding;
    if (conflicts.size() > 1) {
      const std::size_t others = conflicts.size() - 1;
      finding.what +=
          others == 1 ? "; so does 1 other pair of calls" : fmt::format("; so do {} other pairs of calls", others);
    }
    if (all_us > 0) finding.what += fmt::format("; {:.0f} % of the launch's estimated time", 100 * share);
    finding.cost = cycles;
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  const Chip* chip_ = nullptr;
  std::optional<LaunchClock> clock_;  // none: the chip's description has no times
  bool open_ = false;
  std::vector<Use> section_;
  std::map<std::string, Conflicts> conflicts_;  // of the launch, by rule
};

}  // namespace

std::shared_ptr<Observer> make_bank_check(std::shared_ptr<Findings> findings, const Chip& chip) {
  auto model = CostModel::make(chip, TimingPreset::kFull);
  return std::make_shared<BankCheck>(std::move(findings), model ? *std::move(model) : nullptr);
}

}  // namespace softtpu
