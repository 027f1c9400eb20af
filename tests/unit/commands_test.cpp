// What commands declare about themselves, and refusals as values.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <utility>

#include "device/chip/layout.hpp"
#include "device/chip/limits.hpp"
#include "device/chip/rules.hpp"
#include "device/command/checks.hpp"
#include "device/command/numbers.hpp"
#include "device/engines/command.hpp"
#include "device/isa/op_names.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::commands_test {
namespace {

using ::testing::HasSubstr;

// The roles of a command's operands, by name.
template <class Cmd>
std::map<std::string, Role> roles_of(const Cmd& cmd) {
  std::map<std::string, Role> roles;
  for_each_operand(cmd, [&](Access, const char* name, const Operand&, const Role& role) { roles[name] = role; });
  return roles;
}

using Range = std::pair<std::int64_t, std::int64_t>;

// The limits of a function's row that hold for a command's numbers, by name.
template <class Cmd>
std::map<std::string, Range> ranges_of(Op op, const Cmd& cmd, const Chip& chip = {}) {
  const Numbers numbers(cmd);
  const auto value_of = [&](const char* argument) { return numbers[numbers.find(argument)].value; };
  std::map<std::string, Range> ranges;
  for (const Limit& limit : limits_of(info(op).limits)) {
    if (numbers.find(limit.argument) == numbers.size()) continue;
    ranges[limit.argument] = {limit.low.on(chip, value_of), limit.high.on(chip, value_of)};
  }
  return ranges;
}

Tensor matrix(int rows, int channels, int per_channel) {
  return {Space::kLocal, 0, {rows, channels, 1, per_channel}, {}, Dtype::kFp32, true};
}

TEST(Commands, SayWhichElementsOfAnOperandTheyTouch) {
  LookupCmd lookup;
  lookup.dst.shape = {1, 5, 1, 8};
  EXPECT_FALSE(roles_of(lookup)["table"].all) << "data decides which entries are read";
  EXPECT_EQ(roles_of(lookup)["table"].lanes, 5);
  EXPECT_TRUE(roles_of(lookup)["src"].all);

  Conv2dCmd conv;
  conv.window.stride = {1, 1};
  EXPECT_TRUE(roles_of(conv)["input"].all);
  conv.window.stride = {1, 2};
  EXPECT_FALSE(roles_of(conv)["input"].all) << "a stride leaves columns out";

  // 10 columns, 4 to a channel: the last channel holds 2 of them.
  OkkMatmulCmd product;
  product.inner = 6;
  product.cols = 10;
  product.left = matrix(3, 2, 4);
  product.right = matrix(6, 3, 4);
  product.output = matrix(3, 3, 4);
  EXPECT_EQ(roles_of(product)["left"].last_channel, 2);
  EXPECT_EQ(roles_of(product)["right"].last_channel, 2);
  product.cols = 12;
  EXPECT_EQ(roles_of(product)["output"].last_channel, 4);
}

TEST(Commands, SayWhichOperandsHaveATypeOfTheirOwn) {
  PoolCmd pool;
  pool.mode = PoolMode::kDepthwise;
  pool.bias = Tensor{};
  EXPECT_TRUE(roles_of(pool)["bias"].fixed_type);
  EXPECT_TRUE(roles_of(pool)["pad"].fixed_type);
  EXPECT_FALSE(roles_of(pool)["input"].fixed_type);
  EXPECT_FALSE(roles_of(pool)["weight"].fixed_type);
}

// A refused command is described before its sizes are known to make sense.
TEST(Commands, DescribeThemselvesWithImpossibleSizes) {
  OkkMatmulCmd product;
  product.cols = 0;
  EXPECT_EQ(roles_of(product)["right"].last_channel, 0);
  DmaMatrixCmd move;
  move.dst.space = Space::kLocal;
  move.dst.shape.w = 0;
  EXPECT_EQ(roles_of(move)["dst"].last_channel, 0);
}

TEST(Rows, SayWhatTheArgumentsOfCommandsMayBe) {
  const auto window = ranges_of(Op::tpu_bdc_fp_max_pool2d, PoolCmd{});
  EXPECT_EQ(window.size(), 12U);
  EXPECT_EQ(window.at("kernel.w"), Range(1, 65535));
  EXPECT_EQ(window.at("stride.h"), Range(1, 15));
  EXPECT_EQ(window.at("padding.left"), Range(0, 15));
  EXPECT_EQ(ranges_of(Op::tpu_bdc_int8_mac, MacCmd{}).at("rshift"), Range(0, 31));
  EXPECT_EQ(ranges_of(Op::tpu_bdc_w_gather, GatherCmd{}).at("shape.h"), Range(1, 1));
  EXPECT_EQ(ranges_of(Op::tpu_bdc_hw_gather, GatherCmd{}).at("shape.h"), Range(1, 65535));
  EXPECT_TRUE(limits_of(info(Op::tpu_bdc_fp_add).limits).empty());
}

TEST(Rows, TakeLimitsFromTheChipAndFromOtherArguments) {
  constexpr Op kConv = Op::tpu_bdc_int8_sym_quant_conv2d;
  Conv2dCmd conv;
  EXPECT_EQ(ranges_of(kConv, conv).count("rshift"), 0U) << "sums of floats are not shifted";
  conv.kind = Conv2dKind::kSymmetric;
  EXPECT_EQ(ranges_of(kConv, conv).at("rshift"), Range(0, 32));
  Chip chip;
  chip.rules.reset().set(static_cast<std::size_t>(Quirk::kSixBitShifts));
  EXPECT_EQ(ranges_of(kConv, conv, chip).at("rshift"), Range(0, 63));
  PoolCmd pool;
  pool.mode = PoolMode::kAverage;
  pool.src.dtype = Dtype::kInt8;
  chip.rules.set(static_cast<std::size_t>(Quirk::kWideByteSums));
  EXPECT_EQ(ranges_of(Op::tpu_bdc_int8_avg_pool2d, pool, chip).at("rshift"), Range(0, 63));
  chip.rules.reset().set(static_cast<std::size_t>(Quirk::kWideByteSums));
  EXPECT_EQ(ranges_of(Op::tpu_bdc_int8_avg_pool2d, pool, chip).at("rshift"), Range(0, 255));

  HauSortCmd sort;
  sort.src.shape.w = 7;
  EXPECT_EQ(ranges_of(Op::tpu_hau_sort, sort).at("K"), Range(1, 7));
  HauLineGatherCmd lines;
  lines.start = 3;
  lines.line_num = 20;
  EXPECT_EQ(ranges_of(Op::tpu_hau_line_gather, lines).at("end"), Range(3, 19));
}

// A function without limits of a number that its command has is a defect of the table, and is named as such.
TEST(Rows, WithoutALimitRefuseTheCommand) {
  TestDevice device;
  const Dim4 shape{1, 1, 1, 1};
  const Tensor tensor{Space::kLocal, 0,   shape, aligned_stride(device.chip(), 0, shape, Dtype::kFp32),
                      Dtype::kFp32,  true};
  const RootCmd root{RootMode::kRsqrt, tensor, tensor, 1};
  EXPECT_FALSE(violation(device.memories(), Op::tpu_bdc_fp32_rsqrt, root));
  const Violation broken = violation(device.memories(), Op::tpu_bdc_fp_square, root);
  ASSERT_TRUE(broken);
  EXPECT_THAT(sentence("f", *broken),
              HasSubstr("internal error: the row of tpu_bdc_fp_square in device/isa/ops has no limit of num_iter"));
}

// A rule asks the row: both ends are taken, the next value is refused.
TEST(Commands, AreRefusedOutsideOfTheirLimits) {
  for (const int step : {0, 1, 15, 16}) {
    TestDevice device;
    const LaunchOutcome outcome = device.run([step] {
      const dim4 shape = {1, 1, 20, 20};
      const dim2 kernel = {2, 2}, stride = {step, 1}, dilation = {1, 1};
      const padding_t padding = {0, 0, 0, 0};
      tpu_bdc_fp_max_pool2d(0x8000, 0x0, &shape, &kernel, &padding, &stride, &dilation, DT_FP32, {});
    });
    EXPECT_EQ(outcome.ok, step >= 1 && step <= 15) << step << ": " << outcome.text;
    if (!outcome.ok) {
      EXPECT_THAT(outcome.text, HasSubstr("stride.h (" + std::to_string(step) + ") is outside 1..15."));
    }
  }
}

TEST(Commands, AreAllDifferentTypesWithTraits) {
  EXPECT_TRUE(traits_of(Command(ArithCmd{})).lane_local);
  EXPECT_TRUE(traits_of(Command(MatMulCmd{})).is_product);
  EXPECT_FALSE(traits_of(Command(ControlCmd{})).elementwise);
  EXPECT_FALSE(traits_of(Command(CopyCmd{})).typed_result) << "a copy only says how many bits there are";
}

TEST(Refusals, HoldFunctionRuleArgumentValueLimitAndTheNearestLegalValue) {
  TestDevice device;
  Checks check(device.memories(), Op::tpu_bdc_fp_add);
  check.in_range("len", 70000, 1, 65535).in_range("K", 0, 1, 2);
  ASSERT_TRUE(check.violation());
  const Refusal& refusal = *check.violation();
  EXPECT_EQ(refusal.op, Op::tpu_bdc_fp_add);
  EXPECT_STREQ(refusal.rule, "constraint/shape");
  EXPECT_EQ(refusal.wrong.argument, "len") << "the first broken rule counts";
  EXPECT_EQ(refusal.wrong.value, "70000");
  EXPECT_EQ(refusal.wrong.limit, "1..65535");
  EXPECT_EQ(refusal.nearest, "65535");
  EXPECT_EQ(sentence("tpu_bdc_fp_add", refusal), "tpu_bdc_fp_add: len (70000) is outside 1..65535.");
}

TEST(Refusals, KeepBracesOfTheirTexts) {
  Refusal refusal;
  refusal.wrong.what = "the name {value} is taken";
  EXPECT_EQ(sentence("f", refusal), "f: the name {value} is taken.");
}

// Observers get what the check has found, not a text to take apart.
TEST(Refusals, ReachObserversAsValues) {
  struct Listener final : Observer {
    void refused(Op op, const Command&, const Refusal& refusal) override {
      seen = op;
      told = refusal;
    }
    Op seen{};
    Refusal told;
  };
  TestDevice device;
  const auto listener = std::make_shared<Listener>();
  device.core().add_observer(listener);
  const LaunchOutcome outcome = device.run([] {
    const dim4 shape = {1, 2, 3, 4};
    tpu_bdc_fp_add(0x402, 0x400, 0x800, &shape, nullptr, nullptr, nullptr, DT_FP32);
  });
  EXPECT_FALSE(outcome.ok);
  EXPECT_EQ(listener->seen, Op::tpu_bdc_fp_add);
  EXPECT_STREQ(listener->told.rule, "constraint/alignment");
  EXPECT_EQ(listener->told.wrong.argument, "dst");
  EXPECT_EQ(listener->told.wrong.value, "0x402");
  EXPECT_THAT(outcome.text,
              HasSubstr("tpu_bdc_fp_add: dst address (0x402) is not a multiple of the element size (4)."));
}

}  // namespace
}  // namespace softtpu::commands_test
