// Properties of estimated times, and the observer that makes them.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "device/footprint/local_map.hpp"
#include "device/isa/op_names.hpp"
#include "device/timing/engine_times.hpp"
#include "device/timing/time_observer.hpp"
#include "okk.h"
#include "runtime/layout/formulas.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::time_model_test {
namespace {

// A whole number below `limit`.
double below(std::mt19937& random, std::uint32_t limit) {
  return static_cast<double>(static_cast<std::uint32_t>(random()) % limit);
}

CommandCost cost_of(double work_us, double issue_us = 0, double ddr_bytes = 0) {
  CommandCost cost;
  cost.work_us = work_us;
  cost.issue_us = issue_us;
  cost.bytes[static_cast<std::size_t>(BytePath::kDdrRead)] = ddr_bytes;
  return cost;
}

TEST(EngineTimes, SequentialCommandsFollowEachOther) {
  EngineTimes times(30, 1);
  times.add(Queue::kGdma, cost_of(10));
  const EngineSlot second = times.add(Queue::kBdc, cost_of(5));
  EXPECT_DOUBLE_EQ(second.start_us, 40);
  EXPECT_EQ(second.waited_for, WaitFor::kGdma);
  EXPECT_DOUBLE_EQ(second.waited_us, 10);
  EXPECT_DOUBLE_EQ(times.end().us, 45);
}

TEST(EngineTimes, AParallelSectionTakesAsLongAsItsBusiestEngine) {
  EngineTimes times(0, 1);
  times.begin_section();
  times.add(Queue::kGdma, cost_of(10));
  times.add(Queue::kBdc, cost_of(4));
  const EngineSlot third = times.add(Queue::kBdc, cost_of(4));
  times.end_section();
  EXPECT_DOUBLE_EQ(third.start_us, 4);
  EXPECT_DOUBLE_EQ(times.end().us, 11);
  EXPECT_DOUBLE_EQ(times.add(Queue::kBdc, cost_of(1)).start_us, 11);
}

TEST(EngineTimes, ACommandStartsNoEarlierThanItWasIssued) {
  EngineTimes times(0, 0);
  for (int i = 0; i < 10; ++i) times.add(Queue::kBdc, cost_of(1, 3));
  EXPECT_DOUBLE_EQ(times.end().us, 31);
  EXPECT_DOUBLE_EQ(times.end().spent[static_cast<std::size_t>(Spent::kIssue)], 30);
  EXPECT_DOUBLE_EQ(times.waited_us(Queue::kBdc, WaitFor::kIssue), 21);
}

TEST(EngineTimes, APollKeepsLaterCommandsFromBeingIssued) {
  EngineTimes times(0, 0);
  times.add(Queue::kGdma, cost_of(10, 1));
  times.poll();
  EXPECT_DOUBLE_EQ(times.add(Queue::kBdc, cost_of(1, 1)).issued_us, 12);
}

TEST(EngineTimes, MessagesOrderEnginesInsideASection) {
  EngineTimes times(0, 0);
  times.begin_section();
  times.add(Queue::kGdma, cost_of(10));
  times.send(Queue::kGdma, 3);
  times.receive(Queue::kBdc, 3);
  EXPECT_DOUBLE_EQ(times.add(Queue::kBdc, cost_of(1)).start_us, 10);
}

TEST(EngineTimes, WhatAMomentWasSpentOnAddsUpToIt) {
  std::mt19937 random(1);
  EngineTimes times(30, 0.3);
  for (int i = 0; i < 500; ++i) {
    if (i % 20 == 5) times.begin_section();
    if (i % 20 == 15) times.end_section();
    if (i % 50 == 49) times.poll();
    times.add(static_cast<Queue>(random() % kQueues), cost_of(below(random, 7), below(random, 3), below(random, 2)));
  }
  double sum = 0;
  for (const double part : times.end().spent) sum += part;
  EXPECT_NEAR(sum, times.end().us, 1e-6);
}

struct Step {
  Queue queue;
  CommandCost cost;
};

double end_of(const std::vector<Step>& steps, bool parallel) {
  EngineTimes times(30, 0);
  if (parallel) times.begin_section();
  for (const Step& step : steps) times.add(step.queue, step.cost);
  if (parallel) times.end_section();
  return times.end().us;
}

TEST(EngineTimes, AParallelSectionIsNeverSlowerThanTheSameCommandsInSequence) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<Step> steps;
    for (std::uint32_t i = 0; i < random() % 40 + 1; ++i) {
      steps.push_back(
          {static_cast<Queue>(random() % kQueues), cost_of(below(random, 100) / 10, below(random, 20) / 10)});
    }
    EXPECT_LE(end_of(steps, true), end_of(steps, false) + 1e-9) << "round " << round;
  }
}

// ---- Costs of commands ----

struct Timed {
  const char* name;
  Op op;
  Command (*make)(const Chip&, const Dim4&);
};

Tensor local_tensor(const Chip& chip, std::uint64_t addr, const Dim4& shape, Dtype type) {
  return {Space::kLocal, addr, shape, aligned_stride(chip.npu_num, 0, shape, chip.eu_num(type)), type, true};
}
Tensor global_tensor(const Chip& chip, const Dim4& shape, Dtype type) {
  return {Space::kSystem, chip.global_mem.start, shape, continuous_stride(shape), type, true};
}

template <Dtype type>
Command make_add(const Chip& chip, const Dim4& shape) {
  return ArithCmd{ArithMode::kAdd, local_tensor(chip, 0, shape, type), local_tensor(chip, 0x10000, shape, type),
                  local_tensor(chip, 0x10000, shape, type)};
}
template <Dtype type>
Command make_load(const Chip& chip, const Dim4& shape) {
  return DmaCopyCmd{CopyOrder::kNchw, local_tensor(chip, 0, shape, type), global_tensor(chip, shape, type)};
}
template <Dtype type>
Command make_store(const Chip& chip, const Dim4& shape) {
  return DmaCopyCmd{CopyOrder::kNchw, global_tensor(chip, shape, type), local_tensor(chip, 0, shape, type)};
}
Command make_conv(const Chip& chip, const Dim4& shape) {
  Conv2dCmd cmd;
  cmd.window.kernel = {3, 3};
  cmd.window.stride = cmd.window.dilation = {1, 1};
  cmd.dst = local_tensor(chip, 0, shape, Dtype::kFp16);
  cmd.src = local_tensor(chip, 0x8000, shape, Dtype::kFp16);
  return cmd;
}
Command make_matmul(const Chip& chip, const Dim4& shape) {
  MatMulCmd cmd;
  cmd.rows = shape.n;
  cmd.inner = shape.c;
  cmd.cols = shape.h * shape.w;
  cmd.dst = local_tensor(chip, 0, {shape.n, shape.h, 1, shape.w}, Dtype::kFp32);
  cmd.left = cmd.right = local_tensor(chip, 0, shape, Dtype::kFp32);
  return cmd;
}
Command make_divide(const Chip& chip, const Dim4& shape) {
  return DivideCmd{local_tensor(chip, 0, shape, Dtype::kFp32), local_tensor(chip, 0x8000, shape, Dtype::kFp32),
                   local_tensor(chip, 0x8000, shape, Dtype::kFp32), 3};
}
Command make_okk_conv(const Chip& chip, const Dim4& shape) {
  OkkConvCmd cmd;
  cmd.window = {{3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}};
  cmd.output = local_tensor(chip, 0, shape, Dtype::kFp32);
  cmd.input = local_tensor(chip, 0x8000, shape, Dtype::kFp32);
  cmd.even = local_tensor(chip, 0x9000, {1, 1, 1, 1}, Dtype::kFp32);
  return cmd;
}
Command make_okk_matmul(const Chip& chip, const Dim4& shape) {
  OkkMatmulCmd cmd;
  cmd.inner = shape.c;
  cmd.cols = shape.h * shape.w;
  cmd.output = local_tensor(chip, 0, {shape.n, shape.h, 1, shape.w}, Dtype::kFp32);
  cmd.left = local_tensor(chip, 0x8000, {shape.n, shape.c, 1, 1}, Dtype::kFp32);
  cmd.right = cmd.left;
  return cmd;
}

constexpr Timed kTpuCommands[] = {
    {"add fp32", Op::tpu_bdc_fp_add, make_add<Dtype::kFp32>},
    {"add int8", Op::tpu_bdc_int_add, make_add<Dtype::kInt8>},
    {"divide", Op::tpu_bdc_fp_div, make_divide},
    {"conv", Op::tpu_bdc_fp_conv2d, make_conv},
    {"matmul", Op::tpu_bdc_fp32_mm, make_matmul},
    {"load fp16", Op::tpu_gdma_cpy_S2L, make_load<Dtype::kFp16>},
    {"store fp32", Op::tpu_gdma_cpy_L2S, make_store<Dtype::kFp32>},
};
constexpr Timed kOkkCommands[] = {
    {"add", Op::okk_bdc_add, make_add<Dtype::kFp32>},
    {"conv", Op::okk_bdc_conv2d, make_okk_conv},
    {"matmul", Op::okk_bdc_matmul, make_okk_matmul},
    {"load", Op::okk_gdma_32bit_cpy_S2L, make_load<Dtype::kFp32>},
    {"store", Op::okk_gdma_32bit_cpy_L2S, make_store<Dtype::kFp32>},
};

Chip chip_named(const std::string& name) {
  auto chip = load_chip(name);
  EXPECT_TRUE(chip) << chip.error().text;
  return *chip;
}
std::span<const Timed> commands_of(const Chip& chip) {
  if (chip.api == Api::kOkKernel) return kOkkCommands;
  return kTpuCommands;
}
std::unique_ptr<CostModel> model_of(const Chip& chip, TimingPreset preset = TimingPreset::kFull) {
  auto model = CostModel::make(chip, preset);
  EXPECT_TRUE(model) << model.error().text;
  return std::move(*model);
}
Dim4 random_shape(std::mt19937& random) {
  const auto extent = [&](std::uint32_t most) { return static_cast<int>(random() % most) + 1; };
  return {extent(4), extent(150), extent(20), extent(40)};
}

class TimeOf : public ::testing::TestWithParam<const char*> {};

// Twice the extent: one more element may be aligned better and be faster for it.
TEST_P(TimeOf, CommandsGrowsWithEveryExtent) {
  const Chip chip = chip_named(GetParam());
  const auto model = model_of(chip);
  std::mt19937 random(3);
  for (const Timed& timed : commands_of(chip)) {
    for (int round = 0; round < 200; ++round) {
      const Dim4 shape = random_shape(random);
      const double us = model->cost(timed.op, timed.make(chip, shape)).engine_us();
      EXPECT_GT(us, 0) << timed.name;
      for (int Dim4::*extent : {&Dim4::n, &Dim4::c, &Dim4::h, &Dim4::w}) {
        Dim4 larger = shape;
        larger.*extent *= 2;
        EXPECT_GE(model->cost(timed.op, timed.make(chip, larger)).engine_us(), us - 1e-9)
            << timed.name << " " << to_text(shape) << " against " << to_text(larger);
      }
    }
  }
}

TEST_P(TimeOf, CommandsIsNeverShorterWithHalfTheBandwidth) {
  const Chip chip = chip_named(GetParam());
  Chip slower = chip;
  for (const char* rate :
       {"read_gbps", "write_gbps", "copy_gbps", "fill_gbps", "stream_bytes_per_cycle", "local_gbps"}) {
    if (slower.timing.contains(rate)) slower.timing[rate].value /= 2;
  }
  const auto fast = model_of(chip);
  const auto slow = model_of(slower);
  std::mt19937 random(4);
  int slowed = 0;
  for (const Timed& timed : commands_of(chip)) {
    for (int round = 0; round < 100; ++round) {
      const Command command = timed.make(chip, random_shape(random));
      const double before = fast->cost(timed.op, command).engine_us();
      const double after = slow->cost(timed.op, command).engine_us();
      EXPECT_GE(after, before - 1e-9) << timed.name;
      slowed += after > before ? 1 : 0;
    }
  }
  EXPECT_GE(slowed, 190) << "loads and stores have to become slower";
}

TEST_P(TimeOf, ACommandIsAtLeastItsIdealTime) {
  const Chip chip = chip_named(GetParam());
  const auto model = model_of(chip);
  std::mt19937 random(5);
  for (const Timed& timed : commands_of(chip)) {
    for (int round = 0; round < 100; ++round) {
      const CommandCost cost = model->cost(timed.op, timed.make(chip, random_shape(random)));
      EXPECT_LE(cost.ideal_us, cost.engine_us() + 1e-9) << timed.name;
      EXPECT_LE(cost.ddr_bytes() / model->read_gbps() / 1e3, cost.engine_us() * 1.2) << timed.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, TimeOf, ::testing::Values("bm1684x", "bm1688", "bm1690", "bm1684"),
                         [](const auto& chip) { return std::string(chip.param); });

TEST(CostModel, TheVendorPresetLeavesOutLaunchIssueAndStart) {
  const Chip chip = chip_named("bm1684x");
  const auto model = model_of(chip, TimingPreset::kVendor);
  const CommandCost cost = model->cost(Op::tpu_bdc_fp_add, make_add<Dtype::kFp32>(chip, {1, 64, 1, 16}));
  EXPECT_EQ(model->launch_us(), 0);
  EXPECT_EQ(cost.start_us + cost.issue_us, 0);
  EXPECT_DOUBLE_EQ(cost.work_us, 0.001);
}

// BM1690's two copy engines work side by side in a section, and a poll of SDMA waits for it.
TEST(TimeObserver, GivesSdmaAQueueOfItsOwn) {
  const auto estimate = [](const std::function<void(TestDevice&)>& kernel) {
    TestDevice device("bm1690");
    auto observer = make_time_observer(device.chip(), {TimingPreset::kFull, false, {}, {}});
    EXPECT_TRUE(observer) << observer.error().text;
    device.core().add_observer(*observer);
    const LaunchOutcome outcome = device.run([&] { kernel(device); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return outcome.estimated_us.value_or(0);
  };
  static constexpr dim4 kShape = {1, 64, 16, 1024};  // 4 MB as f32: 65 us for a copy in DDR
  const auto sdma = [](TestDevice& device) {
    tpu_sdma_cpy_S2S(device.scratch(16 << 20), device.scratch(), &kShape, nullptr, nullptr, DT_FP32);
  };
  const auto gdma = [](TestDevice& device) {
    tpu_gdma_cpy_S2S(device.scratch(48 << 20), device.scratch(32 << 20), &kShape, nullptr, nullptr, DT_FP32);
  };
  const double one = estimate([&](TestDevice& d) { sdma(d); });
  const double in_turns = estimate([&](TestDevice& d) { sdma(d), gdma(d); });
  const double together = estimate([&](TestDevice& d) {
    tpu_parallel_start();
    sdma(d), gdma(d);
    tpu_parallel_end();
  });
  const double polled = estimate([&](TestDevice& d) {
    tpu_parallel_start();
    sdma(d);
    tpu_sdma_poll();
    gdma(d);
    tpu_parallel_end();
  });
  const double copy = 4.0 * (1 << 20) / 64e3;
  EXPECT_NEAR(in_turns - one, copy, 5);
  EXPECT_NEAR(together, one, 5);
  EXPECT_NEAR(polled, in_turns, 5);
}

// DDR may give all cores more than one of them takes.
TEST(CostModel, CoresShareWhatDdrGivesAllOfThem) {
  EXPECT_EQ(model_of(chip_named("bm1684x"))->ddr_share(), 1);
  Chip chip = chip_named("bm1690");
  EXPECT_DOUBLE_EQ(model_of(chip)->ddr_share(), 128 / 546.1);
  chip.timing["all_cores_gbps"].value = 64;
  EXPECT_EQ(model_of(chip)->ddr_share(), 1);
  chip.timing["all_cores_gbps"].value = 0;
  EXPECT_THAT(CostModel::make(chip, TimingPreset::kFull).error().text,
              ::testing::HasSubstr("\"all_cores_gbps\" is not above 0"));
}

TEST(CostModel, NamesTheParameterThatAChipLacks) {
  Chip chip = chip_named("bm1684x");
  chip.timing.erase("piece_bytes");
  const auto model = CostModel::make(chip, TimingPreset::kFull);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().text, ::testing::HasSubstr("\"piece_bytes\" is missing in \"timing\""));
  EXPECT_FALSE(CostModel::make(chip_named("bm1684"), TimingPreset::kVendor));
  chip.timing["piece_bytes"].value = 0;
  EXPECT_THAT(CostModel::make(chip, TimingPreset::kFull).error().text,
              ::testing::HasSubstr("\"piece_bytes\" is not above 0"));
  chip.timing["piece_bytes"].value = 256;
  chip.timing["launch_us"].value = -1;
  EXPECT_THAT(CostModel::make(chip, TimingPreset::kFull).error().text,
              ::testing::HasSubstr("\"launch_us\" is below 0"));
}

// ---- The observer ----

const dim4 kShape = {1, 64, 4, 16};

const TimeSettings kSilent = {TimingPreset::kFull, false, {}, {}};

void small_kernel(const TestDevice& device, bool parallel) {
  tpu_initialize();
  for (unsigned i = 0; i < 4; ++i) {
    if (parallel) tpu_parallel_start();
    tpu_gdma_cpy_S2L(0x400 * (i % 2), device.scratch(0x10000 * i), &kShape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_add(0x8000, 0x10000, 0x18000, &kShape, nullptr, nullptr, nullptr, DT_FP32);
    if (parallel) tpu_parallel_end();
  }
  tpu_poll();
}

TEST(TimeObserver, EstimatesALaunchAndChangesNothing) {
  TestDevice plain;
  TestDevice timed;
  auto observer = make_time_observer(timed.chip(), kSilent);
  ASSERT_TRUE(observer) << observer.error().text;
  timed.core().add_observer(*observer);
  const LaunchOutcome without = plain.run([&] { small_kernel(plain, false); });
  const LaunchOutcome with = timed.run([&] { small_kernel(timed, false); });
  EXPECT_FALSE(without.estimated_us.has_value());
  ASSERT_TRUE(with.estimated_us.has_value());
  EXPECT_GT(*with.estimated_us, 30);
  EXPECT_EQ(plain.local_bytes(), timed.local_bytes());
  const LaunchOutcome parallel = timed.run([&] { small_kernel(timed, true); });
  EXPECT_LE(*parallel.estimated_us, *with.estimated_us);
  const LaunchOutcome again = timed.run([&] { small_kernel(timed, false); });
  EXPECT_EQ(*again.estimated_us, *with.estimated_us);
}

TEST(TimeObserver, GivesNoEstimateForALaunchThatFails) {
  TestDevice device;
  auto observer = make_time_observer(device.chip(), kSilent);
  ASSERT_TRUE(observer);
  device.core().add_observer(*observer);
  const LaunchOutcome outcome = device.run([&] {
    tpu_bdc_fp_add(1, 0x400, 0x800, &kShape, nullptr, nullptr, nullptr, DT_FP32);  // not aligned
  });
  EXPECT_FALSE(outcome.ok);
  EXPECT_FALSE(outcome.estimated_us.has_value());
}

// ---- The map of local memory ----

class LocalMapTest : public ::testing::Test {
 protected:
  Tensor at(std::uint64_t addr, int w = 64) const { return local_tensor(chip_, addr, {1, 64, 1, w}, Dtype::kFp32); }
  void write(const Tensor& tensor, double us) { map_.write(chip_, tensor, us, us + 1, 0, "dst"); }
  void read(const Tensor& tensor, double us) { map_.read(chip_, tensor, us + 1); }

  const Chip chip_ = chip_named("bm1684x");
  LocalMap map_;
};

TEST_F(LocalMapTest, ABlockLivesFromItsWriteToItsLastRead) {
  write(at(0), 1);
  read(at(0), 5);
  read(at(0), 9);
  ASSERT_EQ(map_.blocks().size(), 1U);
  EXPECT_EQ(map_.blocks()[0].from_us, 1);
  EXPECT_EQ(map_.blocks()[0].to_us, 10);
  EXPECT_EQ(map_.blocks()[0].end, 256U);
  EXPECT_EQ(map_.blocks()[0].npus, 64);
}

TEST_F(LocalMapTest, WritingTheSameBytesAgainBeginsANewBlock) {
  write(at(0), 1);
  read(at(0), 2);
  write(at(0), 3);
  read(at(0), 4);
  ASSERT_EQ(map_.blocks().size(), 2U);
  EXPECT_EQ(map_.blocks()[0].to_us, 3);
  EXPECT_FALSE(map_.blocks()[0].overlaps || map_.blocks()[1].overlaps);
}

TEST_F(LocalMapTest, MarksBlocksThatShareBytesWhileBothAreAlive) {
  write(at(0), 1);
  write(at(128), 2);  // takes the second half
  read(at(128), 3);
  EXPECT_FALSE(map_.blocks()[0].overlaps);
  read(at(0), 4);
  EXPECT_TRUE(map_.blocks()[0].overlaps);
  EXPECT_TRUE(map_.blocks()[1].overlaps);
}

TEST_F(LocalMapTest, AWriteInsideALivingBlockBelongsToIt) {
  write(at(0), 1);
  write(at(64, 16), 2);
  read(at(0), 3);
  ASSERT_EQ(map_.blocks().size(), 1U);
  EXPECT_FALSE(map_.blocks()[0].overlaps);
}

}  // namespace
}  // namespace softtpu::time_model_test
