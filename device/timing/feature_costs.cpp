// Costs of BM1684's commands: the features and prices of TimeModel.
#include "device/engines/cost.hpp"
#include "device/timing/command_cost.hpp"

namespace softtpu {
namespace {

// What a command's own family says; every other works element by element on its result.
template <class Cmd>
Features features_in(const FeatureTerms& at, const Cmd& cmd) {
  if constexpr (requires { features_of(at, cmd); }) return features_of(at, cmd);
  return at.by_result(cmd);
}

class FeatureCosts final : public CostModel {
 public:
  FeatureCosts(const Chip& chip, TimingParameters& timing, TimeModel model)
      : CostModel(chip, timing), model_(std::move(model)) {}

  std::vector<Quantity> quantities(Op, const Command& command) const override {
    std::vector<Quantity> list;
    for (const auto& [parameter, amount] : model_.amounts(features_of_any(command)))
      list.push_back({parameter, amount});
    return list;
  }

 private:
  Features features_of_any(const Command& command) const {
    const FeatureTerms at(model_, chip());
    return std::visit([&](const auto& cmd) { return features_in(at, cmd); }, command);
  }
  CommandCost engine_cost(Op op, const Command& command) const override {
    const Features features = features_of_any(command);
    CommandCost cost;
    cost.start_us = model_.start_us(features);
    cost.issue_us = model_.issue_us(features);
    const double total = info(op).engine == Engine::kGdma ? model_.gdma_us(features) : model_.bdc_us(features);
    cost.work_us = total - cost.start_us;
    // Its prices are chosen by what 45 cases took on boards.
    cost.by_basis[static_cast<std::size_t>(Basis::kFitted)] = cost.engine_us();
    return cost;
  }

  TimeModel model_;
};

}  // namespace

Result<std::unique_ptr<CostModel>> make_feature_costs(const Chip& chip, TimingPreset preset) {
  TimingParameters timing(chip, preset);
  auto model = TimeModel::make(chip);
  if (!model) return model.error();
  auto costs = std::make_unique<FeatureCosts>(chip, timing, std::move(*model));
  if (auto complete = timing.complete(); !complete) return complete.error();
  return std::unique_ptr<CostModel>(std::move(costs));
}

}  // namespace softtpu
