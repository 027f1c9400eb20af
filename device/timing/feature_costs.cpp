// Costs of BM1684's commands: the features and prices of TimeModel.
#include "device/timing/command_cost.hpp"
#include "device/timing/time_model.hpp"

namespace softtpu {
namespace {

TimeModel::Window to_window(const OkkWindow& window) {
  return {window.kernel.h, window.kernel.w, window.padding, window.stride, window.dilation};
}

class FeaturesOf {
 public:
  FeaturesOf(const TimeModel& model, const Chip& chip) : model_(model), chip_(chip) {}

  // ---- BDC ----
  Features operator()(const OkkConvCmd& cmd) const {
    return model_.convolution(cmd.input.shape, cmd.output.shape.c, to_window(cmd.window), lane(cmd.output));
  }
  Features operator()(const OkkWindowCmd& cmd) const {
    return model_.depthwise(cmd.input.shape, to_window(cmd.window), lane(cmd.output));
  }
  Features operator()(const OkkMatmulCmd& cmd) const {
    return model_.matmul(cmd.output.shape.n, cmd.inner, cmd.cols, cmd.left.shape.w, cmd.output.shape.w,
                         lane(cmd.output));
  }
  Features operator()(const OkkWordCmd& cmd) const {
    if (cmd.mode == OkkWordMode::kDiv) return model_.divide(cmd.dst.shape, lane(cmd.dst));
    return model_.element_wise(cmd.dst.shape, lane(cmd.dst));
  }
  Features operator()(const OkkTaylorCmd& cmd) const {
    return model_.exponential(cmd.dst.shape, lane(cmd.dst), cmd.terms, 1);
  }
  // ---- GDMA ----
  Features operator()(const DmaCopyCmd& cmd) const {
    const Tensor* local = is_local(cmd.dst) ? &cmd.dst : is_local(cmd.src) ? &cmd.src : nullptr;
    if (local == nullptr) return model_.system_move(bytes(cmd.dst));
    if (is_local(cmd.dst) && is_local(cmd.src)) return model_.local_move(bytes(cmd.dst));
    const bool load = local == &cmd.dst;
    const Tensor& system = load ? cmd.src : cmd.dst;
    return model_.transfer(load, cmd.dst.shape, {system.addr, system.stride}, local->stride, size_of(system.dtype));
  }
  Features operator()(const DmaFillCmd& cmd) const {
    return is_local(cmd.dst) ? model_.local_move(bytes(cmd.dst)) : model_.system_fill(bytes(cmd.dst));
  }
  Features operator()(const DmaMatrixCmd& cmd) const {
    const bool load = is_local(cmd.dst);
    const Tensor& local = load ? cmd.dst : cmd.src;
    const Tensor& system = load ? cmd.src : cmd.dst;
    return model_.matrix_transfer(load, system.addr, system.shape.n, system.shape.w, local.shape.w,
                                  static_cast<int>(system.stride.n));
  }
  // Every other command works element by element on its result.
  template <class Cmd>
  Features operator()(const Cmd& cmd) const {
    Features features;
    for_each_operand(cmd, [&](Access access, const char*, const Operand& operand) {
      const auto* tensor = std::get_if<Tensor>(&operand);
      if (tensor == nullptr || access == Access::kRead || !features.empty()) return;
      features = model_.element_wise(tensor->shape, lane(*tensor));
    });
    return features;
  }

 private:
  int lane(const Tensor& tensor) const { return chip_.npu_of(tensor.addr) % chip_.npu_num; }
  bool is_local(const Tensor& tensor) const {
    return tensor.space == Space::kLocal || (tensor.space == Space::kSystem && chip_.local_mem.contains(tensor.addr));
  }
  static std::int64_t bytes(const Tensor& tensor) { return tensor.shape.elements() * size_of(tensor.dtype); }

  const TimeModel& model_;
  const Chip& chip_;
};

class FeatureCosts final : public CostModel {
 public:
  FeatureCosts(const Chip& chip, TimingParameters& timing, TimeModel model)
      : CostModel(chip, timing), model_(std::move(model)) {}

 private:
  CommandCost engine_cost(Op op, const Command& command) const override {
    const Features features = std::visit(FeaturesOf(model_, chip()), command);
    CommandCost cost;
    cost.start_us = model_.start_us(features);
    cost.issue_us = model_.issue_us(features);
    const double total = info(op).engine == Engine::kGdma ? model_.gdma_us(features) : model_.bdc_us(features);
    cost.work_us = total - cost.start_us;
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
