// Costs of commands in networks: the quantities that the fit sees and the times that the program says are the same.
#include <gtest/gtest.h>

#include "device/chip/layout.hpp"
#include "device/isa/op_names.hpp"
#include "device/timing/fit.hpp"

namespace softtpu::fitted_costs_test {
namespace {

constexpr std::uint64_t kDdr = 0x1'0000'0000;

class FittedCosts : public ::testing::TestWithParam<const char*> {
 protected:
  Chip chip_ = *load_chip(GetParam());
  std::unique_ptr<CostModel> model_ = *CostModel::make_for_networks(chip_, TimingPreset::kFull);

  Tensor local(const Dim4& shape) const {
    return {Space::kLocal, 0, shape, aligned_stride(chip_, 0, shape, Dtype::kFp32), Dtype::kFp32, true};
  }
  static Tensor global(const Dim4& shape) {
    return {Space::kSystem, kDdr, shape, continuous_stride(shape), Dtype::kFp32, true};
  }
  double by_quantities(Op op, const Command& command) const {
    const Fit& fit = *Fit::find(chip_);
    double us = 0;
    for (const auto& [name, amount] : model_->quantities(op, command)) {
      const double value = fit.parameter(name)->value;
      us += name.ends_with("_gbps") ? amount / value : amount * value;
    }
    return us;
  }
  void expect_same(Op op, const Command& command) const {
    const double us = model_->cost(op, command).engine_us();
    EXPECT_GT(us, 0);
    EXPECT_NEAR(by_quantities(op, command), us, us * 1e-9);
  }
};

TEST_P(FittedCosts, InputsAndOutputsAreTheQuantityThatTheProgramCharges) {
  Tensor block = global({1, 1, 1, 602112});
  block.dtype = Dtype::kInt8;
  expect_same(Op::tpu_gdma_system_cpy, DmaCopyCmd{CopyOrder::kBlock, block, block});
}

TEST_P(FittedCosts, QuantitiesOfTransfersAreTheirTimes) {
  const Dim4 shape{1, 64, 30, 2};
  expect_same(Op::tpu_gdma_cpy_S2L, DmaCopyCmd{CopyOrder::kNchw, local(shape), global(shape)});
  expect_same(Op::tpu_gdma_cpy_L2S, DmaCopyCmd{CopyOrder::kNchw, global(shape), local(shape)});
}

INSTANTIATE_TEST_SUITE_P(Chips, FittedCosts, ::testing::Values("bm1684x", "bm1688", "bm1684"));

TEST(FitOfBm1684, RunsThatFollowEachOtherMoveTheirBytesOnce) {
  const Chip chip = *load_chip("bm1684");
  const auto of_networks = *CostModel::make_for_networks(chip, TimingPreset::kFull);
  const auto of_kernels = *CostModel::make(chip, TimingPreset::kFull);
  const Dim4 shape{1, 64, 45, 2};
  Tensor local{Space::kLocal, 0, shape, {90, 90, 2, 1}, Dtype::kFp32, false};
  Tensor gaps{Space::kSystem, kDdr, shape, continuous_stride(shape), Dtype::kFp32, false};
  local.stride.h = 4;  // runs of two words
  const auto us = [&](const CostModel& model) {
    return model.cost(Op::okk_gdma_32bit_cpy_L2S, DmaCopyCmd{CopyOrder::kNchw, gaps, local}).work_us;
  };
  // 64 * 45 runs of 8 bytes: a line of 64 bytes each for kernels, 360 lines in all for networks.
  EXPECT_LT(us(*of_networks), us(*of_kernels) / 4);
  gaps.stride.h = 3;  // with gaps in global memory every run is a line of its own
  EXPECT_GT(us(*of_networks), us(*of_kernels) * .8);
}

}  // namespace
}  // namespace softtpu::fitted_costs_test
