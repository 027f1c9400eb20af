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

TEST_P(FittedCosts, ShortRunsWithinDdrMoveWholeLines) {
  const Dim4 shape{1, 64, 32, 32};
  const Tensor dense = global(shape);
  Tensor apart = global(shape);
  apart.stride = {1 << 20, 1 << 14, 1 << 9, 1 << 4};  // every element in a line of its own
  const auto us = [&](const Tensor& src) {
    const DmaCopyCmd copy{CopyOrder::kNchw, dense, src};
    expect_same(Op::tpu_gdma_cpy_S2S, copy);
    return model_->cost(Op::tpu_gdma_cpy_S2S, copy).work_us;
  };
  EXPECT_GT(us(apart), 3 * us(dense));
}

INSTANTIATE_TEST_SUITE_P(Chips, FittedCosts, ::testing::Values("bm1684x", "bm1688", "bm1684"));

TEST(FitOfBm1684x, BroadcastsToLanesAreReadOnceInNetworksAndKernels) {
  const Chip chip = *load_chip("bm1684x");
  const auto of_networks = *CostModel::make_for_networks(chip, TimingPreset::kFull);
  const auto of_kernels = *CostModel::make(chip, TimingPreset::kFull);
  const auto us = [&](const CostModel& model, int lanes) {
    const Dim4 shape{1, lanes, 224, 224};
    const Tensor image{Space::kSystem, kDdr, {1, 1, 224, 224}, {50176, 0, 224, 1}, Dtype::kInt8, false};
    const Tensor local{Space::kLocal, 0, shape, aligned_stride(chip, 0, shape, Dtype::kInt8), Dtype::kInt8, true};
    return model.cost(Op::tpu_gdma_channel_bcast_S2L, DmaCopyCmd{CopyOrder::kOneChannel, local, image}).work_us;
  };
  EXPECT_EQ(us(*of_networks, 9), us(*of_networks, 1));
  EXPECT_EQ(us(*of_kernels, 9), us(*of_kernels, 1));
}

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

TEST(FitOfBm1684, MatricesOfBytesAreAQuarterOfThoseOfWords) {
  const Chip chip = *load_chip("bm1684");
  const auto model = *CostModel::make_for_networks(chip, TimingPreset::kFull);
  const auto us = [&](Dtype type) {
    const Tensor weights{Space::kSystem, kDdr, {1024, 1, 1, 1024}, {1024, 0, 0, 1}, type, false};
    const Tensor local{Space::kLocal, 0, {1024, 8, 1, 128}, {128, 128, 128, 1}, type, false};
    return model->cost(Op::okk_gdma_32bit_matrix_S2L, DmaMatrixCmd{local, weights}).work_us;
  };
  const double gbps = Fit::find(chip)->parameter("read_gbps")->value;
  const double runs = us(Dtype::kInt8) - 1024 * 1024 / gbps / 1e3;
  EXPECT_NEAR(us(Dtype::kFp32), 4 * 1024 * 1024 / gbps / 1e3 + runs, .1);
}

TEST(FitOfBm1684x, GathersMoveTheRowsThatAreAskedFor) {
  const Chip chip = *load_chip("bm1684x");
  const auto model = *CostModel::make_for_networks(chip, TimingPreset::kFull);
  const auto global = [](const Dim4& shape, Dtype type) {
    return Tensor{Space::kSystem, kDdr, shape, continuous_stride(shape), type, true};
  };
  DmaRowsCmd rows;
  rows.dst = global({1, 1, 8, 256}, Dtype::kFp16);
  rows.param = global({1, 1, 65000, 256}, Dtype::kFp16);
  rows.index = global({1, 1, 8, 1}, Dtype::kUint32);
  const CommandCost cost = model->cost(Op::tpu_gdma_h_gather_S2S, rows);
  EXPECT_EQ(cost.bytes[static_cast<std::size_t>(BytePath::kDdrRead)], 8 * 512 + 8 * 4);
  EXPECT_GT(cost.work_us, 8 * 512 / 68.3e3);
}

}  // namespace
}  // namespace softtpu::fitted_costs_test
