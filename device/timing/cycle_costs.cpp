// Costs of BM1684X's commands: the cycles that their families say, plus start-up and issue.
#include <type_traits>

#include "device/engines/cost.hpp"
#include "device/timing/command_cost.hpp"

namespace softtpu {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(StartUp::kCount)> kStartNames = {
    "start_conv_cycles",      "start_mm_cycles",     "start_mm2_cycles",         "start_compare_cycles",
    "start_mac_cycles",       "start_arith_cycles",  "start_sfu_cycles",         "start_window_cycles",
    "start_quant_cycles",     "start_gather_cycles", "start_gather_line_cycles", "start_transpose_cycles",
    "start_lane_copy_cycles", "start_static_cycles",
};

// What a command's own family says; else every element once.
template <class Cmd>
Work work_in(const CycleTerms& at, const Cmd& cmd) {
  if constexpr (requires { work_of(at, cmd); }) {
    return work_of(at, cmd);
  } else {
    constexpr bool kPriced =
        Cmd::kTraits.elementwise || std::is_same_v<Cmd, ControlCmd> || requires(const FeatureTerms& features) {
      features_of(features, cmd);
    };
    static_assert(kPriced, "what does the command cost? cost.hpp of its folder says it");
    return at.by_operands(cmd);
  }
}

class CycleCosts final : public CostModel {
 public:
  CycleCosts(const Chip& chip, TimingPreset preset, TimingParameters& timing, CycleModel model)
      : CostModel(chip, timing), preset_(preset), model_(std::move(model)) {
    const auto basis_of = [&](const char* name) {
      const auto found = chip.timing.find(name);
      return found == chip.timing.end() ? Basis::kGuess : to_basis(found->second.founded);
    };
    for (std::size_t i = 0; i < start_cycles_.size(); ++i) start_cycles_[i] = timing.overhead(kStartNames[i]);
    for (std::size_t i = 0; i < start_basis_.size(); ++i) start_basis_[i] = basis_of(kStartNames[i]);
    gdma_start_basis_ = basis_of("gdma_start_us");
    bdc_basis_ = basis_of("conv_outputs_per_cycle");
    gdma_basis_ = basis_of("read_gbps");
    bdc_mhz_ = timing.get("bdc_mhz");
    gdma_mhz_ = timing.get("gdma_mhz");
    issue_bdc_us_ = timing.overhead("issue_bdc_us");
    issue_gdma_us_ = timing.overhead("issue_gdma_us");
    issue_hau_us_ = timing.overhead("issue_hau_us");
    gdma_start_us_ = timing.overhead("gdma_start_us");
    const bool alike = !chip.timing.contains("gdma_store_start_us");
    gdma_store_start_us_ = alike ? gdma_start_us_ : timing.overhead("gdma_store_start_us");
    hau_start_us_ = timing.overhead("hau_start_us");
    hau_us_per_byte_ = timing.overhead("hau_us_per_kib") / 1024;
  }

 private:
  static void rest(CommandCost& cost, Basis start, Basis work) {
    cost.by_basis[static_cast<std::size_t>(start)] += cost.start_us;
    cost.by_basis[static_cast<std::size_t>(work)] += cost.work_us;
  }
  // From local memory to global memory.
  bool stores(const Command& command) const {
    bool reads_local = false, writes_system = false;
    for_each_operand(command, [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr) return;
      const bool local = tensor->space == Space::kLocal || chip().local_mem.contains(tensor->addr);
      (access == Access::kRead ? reads_local : writes_system) |= access == Access::kRead ? local : !local;
    });
    return reads_local && writes_system;
  }

  CommandCost engine_cost(Op op, const Command& command) const override {
    const CycleTerms at(model_, chip(), preset_, op);
    const Work work = std::visit([&](const auto& cmd) { return work_in(at, cmd); }, command);
    CommandCost cost;
    switch (info(op).engine) {
      case Engine::kBdc:
        cost.start_us = start_cycles_[static_cast<std::size_t>(work.start_up)] / bdc_mhz_;
        cost.work_us = work.cycles / bdc_mhz_;
        cost.issue_us = issue_bdc_us_;
        rest(cost, start_basis_[static_cast<std::size_t>(work.start_up)], bdc_basis_);
        break;
      case Engine::kSdma:  // priced like GDMA, which moves the same bytes over the same bus
      case Engine::kGdma:
        cost.start_us = stores(command) ? gdma_store_start_us_ : gdma_start_us_;
        cost.work_us = work.cycles / gdma_mhz_;
        cost.issue_us = issue_gdma_us_;
        rest(cost, gdma_start_basis_, gdma_basis_);
        break;
      case Engine::kHau:
        cost.start_us = hau_start_us_;
        cost.work_us = work.cycles * hau_us_per_byte_;
        cost.issue_us = issue_hau_us_;
        break;
      case Engine::kNone:
      case Engine::kControl: break;
    }
    return cost;
  }

  TimingPreset preset_;
  CycleModel model_;
  std::array<double, kStartNames.size()> start_cycles_{};
  double bdc_mhz_ = 1, gdma_mhz_ = 1;
  double issue_bdc_us_ = 0, issue_gdma_us_ = 0, issue_hau_us_ = 0;
  std::array<Basis, kStartNames.size()> start_basis_{};
  Basis gdma_start_basis_ = Basis::kGuess, bdc_basis_ = Basis::kGuess, gdma_basis_ = Basis::kGuess;
  double gdma_start_us_ = 0, gdma_store_start_us_ = 0, hau_start_us_ = 0, hau_us_per_byte_ = 0;
};

}  // namespace

Result<std::unique_ptr<CostModel>> make_cycle_costs(const Chip& chip, TimingPreset preset) {
  auto model = CycleModel::make(chip, preset);
  if (!model) return model.error();
  TimingParameters timing(chip, preset);
  auto costs = std::make_unique<CycleCosts>(chip, preset, timing, std::move(*model));
  if (auto complete = timing.complete(); !complete) return complete.error();
  return std::unique_ptr<CostModel>(std::move(costs));
}

}  // namespace softtpu
