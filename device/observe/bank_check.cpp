#include "device/observe/bank_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "device/observe/describe.hpp"

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

class BankCheck final : public Observer {
 public:
  explicit BankCheck(std::shared_ptr<Findings> findings) : findings_(std::move(findings)) {}

  void launch_begins(const Memories& memories, const std::string& kernel, int core) override {
    chip_ = &memories.chip();
    findings_->begin(kernel, core);
    close();
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
               fmt::format("{} and {} of {} share", uses[i].name, uses[j].name, info(uses[j].op).name));
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

  void report(const char* rule, const Use& a, const Use& b, double cost, const std::string& what) {
    const int bank = __builtin_ctzll(a.banks & b.banks);
    Finding finding;
    finding.rule = rule;
    finding.what = fmt::format("{} bank {}", what, bank);
    finding.cost = cost;
    const std::uint64_t begin = std::uint64_t{chip_->bank_bytes()} * static_cast<unsigned>(bank);
    finding.place = FoundPlace{"local", begin, begin + chip_->bank_bytes(), chip_->npu_of(b.tensor.addr), bank};
    for (const Use* use : {&a, &b}) {
      const std::string function(info(use->op).name);
      finding.parties.push_back({function,
                                 fmt::format("{} {} {} {}", function, use->writes ? "writes" : "reads", use->name,
                                             to_text(Operand(use->tensor))),
                                 use->stack,
                                 {}});
    }
    findings_->add(finding);
  }

  std::shared_ptr<Findings> findings_;
  const Chip* chip_ = nullptr;
  bool open_ = false;
  std::vector<Use> section_;
};

}  // namespace

std::shared_ptr<Observer> make_bank_check(std::shared_ptr<Findings> findings) {
  return std::make_shared<BankCheck>(std::move(findings));
}

}  // namespace softtpu
