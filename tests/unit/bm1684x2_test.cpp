// What BM1684X2 alone has, or takes (device/chip/rules.def), with arguments that its recordings keep fixed.
#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::bm1684x2_test {
namespace {

constexpr std::uint32_t kBank = 0x2000;
constexpr std::uint16_t kHalfOne = 0x3C00;

// BM1684X2's fused functions (golden bm1684x2/fused, bm1684x2/fp4). Its headers number fp16 as 21 and FP4 as 11.
constexpr auto kFp16OfX2 = static_cast<data_type_t>(21);
constexpr auto kBfp16OfX2 = static_cast<data_type_t>(23);
constexpr auto kFp4OfX2 = static_cast<data_type_t>(11);

LaunchOutcome product_as(TestDevice& device, data_type_t type, rounding_mode_t rounding, bool saturates) {
  *device.local<float>(0, 0) = 2.5F;
  *device.local<float>(0, kBank) = 60.0F;
  const dim4 shape{1, 1, 1, 1};
  return device.run([&] {
    tpu_bdc_fuse_mul_cast(2 * kBank, 0, kBank, &shape, nullptr, nullptr, nullptr, DT_FP32, DT_FP32, type, rounding,
                          saturates);
  });
}

TEST(Bm1684x2, MultiplyAndConvertInOneCommand) {
  TestDevice device("bm1684x2");
  const auto bytes = product_as(device, DT_INT8, RM_HALF_TO_EVEN, false);
  EXPECT_TRUE(bytes.ok) << bytes.text;
  EXPECT_EQ(*device.local<std::int8_t>(0, 2 * kBank), 127);
  const auto floats = product_as(device, DT_FP32, RM_HALF_AWAY_FROM_ZERO, true);
  EXPECT_TRUE(floats.ok) << floats.text;
  EXPECT_EQ(*device.local<float>(0, 2 * kBank), 150.0F);
}

TEST(Bm1684x2, RefuseRoundingOfFusedProductsThatIsNotDetermined) {
  TestDevice device("bm1684x2");
  const auto outcome = product_as(device, DT_INT8, RM_TOWARDS_ZERO, false);
  EXPECT_FALSE(outcome.ok);
  EXPECT_THAT(outcome.text, testing::HasSubstr("without saturation is not determined"));
  TestDevice other("bm1690");
  EXPECT_THAT(product_as(other, DT_INT8, RM_HALF_TO_EVEN, false).text,
              testing::HasSubstr("BM1690 has no fused functions"));
}

TEST(Bm1684x2, SplitFloatsIntoMantissaAndExponent) {
  TestDevice device("bm1684x2");
  const float values[] = {6.0F, -1.5F, std::numeric_limits<float>::denorm_min(), -0.0F};
  std::memcpy(device.local<float>(0, 0), values, sizeof(values));
  const dim4 shape{1, 1, 1, 4};
  const auto outcome = device.run([&] { tpu_bdc_fp_frexp(kBank, 2 * kBank, 0, &shape, DT_FP32); });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const std::uint32_t mantissas[] = {0x400000, 0x80400000, 0, 0x80000000};
  const std::int32_t exponents[] = {2, 0, -127, -127};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(device.local<std::uint32_t>(0, kBank)[i], mantissas[i]) << i;
    EXPECT_EQ(device.local<std::int32_t>(0, 2 * kBank)[i], exponents[i]) << i;
  }
  const auto in_place = device.run([&] { tpu_bdc_fp_frexp(0, 2 * kBank, 0, &shape, DT_FP32); });
  EXPECT_THAT(in_place.text, testing::HasSubstr("src_addr in place is not determined"));
}

TEST(Bm1684x2, MultiplyFp4ByHalves) {
  TestDevice device("bm1684x2");
  *device.local<std::uint8_t>(0, 0) = 0xF2;  // 1 in the low half, -6 in the other
  device.local<std::uint16_t>(0, kBank)[0] = 0x4000;
  device.local<std::uint16_t>(0, kBank)[1] = 0x3800;
  const dim4 shape{1, 1, 1, 2};
  const auto product = [&](data_type_t to) {
    return device.run(
        [&] { tpu_bdc_fp4_mul(2 * kBank, 0, kBank, &shape, nullptr, nullptr, nullptr, to, kFp4OfX2, kFp16OfX2); });
  };
  const auto outcome = product(DT_FP32);
  ASSERT_TRUE(outcome.ok) << outcome.text;
  EXPECT_EQ(device.local<float>(0, 2 * kBank)[0], 2.0F);
  EXPECT_EQ(device.local<float>(0, 2 * kBank)[1], -3.0F);
  EXPECT_THAT(product(DT_FP8E4M3).text, testing::HasSubstr("dst type is fp8e4m3"));
}

// A product of 1 x 32 and 1 x 32 whose factors are 2 and 0.5: E4M3 0x40 and 0x30.
TEST(Bm1684x2, MultiplyFp4InGroupsWithFactors) {
  TestDevice device("bm1684x2");
  for (int i = 0; i < 16; ++i) {
    device.local<std::uint8_t>(0, 0)[i] = 0x22;      // 1
    device.local<std::uint8_t>(0, kBank)[i] = 0x2F;  // -6 in the low half, 1 in the other
  }
  *device.local<std::uint8_t>(0, 2 * kBank) = 0x40;
  *device.local<std::uint8_t>(0, 3 * kBank) = 0x30;
  const auto product = [&](int inner, int group, int add) {
    return device.run([&] {
      tpu_bdc_fp4_bq_mm2_nt(4 * kBank, 0, kBank, 2 * kBank, 3 * kBank, 1, inner, 1, group, add, DT_FP8E4M3, DT_FP32);
    });
  };
  const auto outcome = product(32, 32, 0);
  ASSERT_TRUE(outcome.ok) << outcome.text;
  EXPECT_EQ(*device.local<float>(0, 4 * kBank), -80.0F);
  EXPECT_THAT(product(32, 16, 0).text, testing::HasSubstr("gsize (16) is not 32, 64 or 128"));
  EXPECT_THAT(product(48, 32, 0).text, testing::HasSubstr("L_col_num (48) is no multiple of gsize"));
  EXPECT_THAT(product(0, 32, 0).text, testing::HasSubstr("L_col_num (0) is no multiple of gsize"));
  EXPECT_THAT(product(32, 32, 1).text, testing::HasSubstr("add_result is not determined"));
  TestDevice other("bm1690");
  EXPECT_THAT(other
                  .run([&] {
                    tpu_bdc_fp4_bq_mm2_nt(4 * kBank, 0, kBank, 2 * kBank, 3 * kBank, 1, 32, 1, 32, 0, DT_FP8E4M3,
                                          DT_FP32);
                  })
                  .text,
              testing::HasSubstr("BM1690 has no products of blocks"));
}

// FP8 takes its right elements from the low halves of bytes: -6 times the factor 1.
TEST(Bm1684x2, ScaleElementsOfRightBeforeTheProduct) {
  TestDevice device("bm1684x2");
  for (int i = 0; i < 32; ++i) {
    device.local<std::uint8_t>(0, 0)[i] = 0x38;
    device.local<std::uint8_t>(0, kBank)[i] = 0xCF;
  }
  *device.local<std::uint8_t>(0, 2 * kBank) = 0x38;
  const auto product = [&](data_type_t right, int is_signed) {
    return device.run([&] {
      tpu_bdc_fp_dq2_mm2_nt(4 * kBank, 0, kBank, 2 * kBank, 1, 32, 1, 32, 0, DT_FP8E4M3, right, kBfp16OfX2, DT_FP32, 1,
                            1, is_signed, 0);
    });
  };
  const auto outcome = product(DT_INT4, 1);
  ASSERT_TRUE(outcome.ok) << outcome.text;
  EXPECT_EQ(*device.local<float>(0, 4 * kBank), -192.0F);
  // -6 is 0xCC in E4M3, which is -16 in E5M2.
  ASSERT_TRUE(product(DT_UINT4, 0).ok);
  EXPECT_EQ(*device.local<float>(0, 4 * kBank), -512.0F);
  EXPECT_THAT(product(DT_INT4, 0).text, testing::HasSubstr("R_sign is not that of R_dtype"));
}

TEST(Bm1684x2, ExponentialOfDifferencesInOneFunction) {
  TestDevice device("bm1684x2");
  const float values[] = {0.0F, 1.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), 1e30F};
  std::memcpy(device.local<float>(0, 0), values, sizeof(values));
  const dim4 shape{1, 1, 1, 5};
  const auto exponential = [&](local_addr_t table, bool batches) {
    return device.run([&] {
      tpu_bdc_load_fuse_exp_coeff(table, DT_FP32);
      tpu_bdc_fuse_exp(2 * kBank, 0, 0, table, 3 * kBank, 4 * kBank, &shape, batches, 1, 0, DT_FP32);
    });
  };
  const auto outcome = exponential(5 * kBank, false);
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const float* results = device.local<float>(0, 2 * kBank);
  EXPECT_EQ(results[0], 1.0F);
  EXPECT_NEAR(results[1], 2.718282F, 2e-6F);
  EXPECT_NEAR(results[2], 0.367879F, 1e-6F);
  EXPECT_EQ(results[3], 0.0F);
  EXPECT_NEAR(results[4], 3.4022e38F, 1e35F);
  EXPECT_EQ(device.local<float>(0, 3 * kBank)[2], -2.0F);  // floor(-1 / ln 2)
  EXPECT_THAT(exponential(5 * kBank, true).text, testing::HasSubstr("B_n_is_1 is not determined"));
  EXPECT_THAT(exponential(3 * kBank, false).text, testing::HasSubstr("overlaps"));
  // -2^-30 / ln 2 leaves 1 of the power of two below 0.
  *device.local<float>(0, 0) = -0x1p-30F;
  EXPECT_THAT(exponential(5 * kBank, false).text, testing::HasSubstr("an index in src (16) is outside 0..15"));
}

TEST(Bm1684x2, ReducePlanesAndRows) {
  TestDevice device("bm1684x2");
  const float values[] = {3.0F, -1.0F, 2.0F, 5.0F};
  std::memcpy(device.local<float>(0, 0), values, sizeof(values));
  const dim4 shape{1, 1, 2, 2};
  const auto reduce = [&](auto function, int op) {
    return device.run([&] { function(kBank, 0, &shape, nullptr, nullptr, 0, DT_FP32, DT_FP32, op, 0); });
  };
  ASSERT_TRUE(reduce(tpu_bdc_hw_reduce, 2).ok);
  EXPECT_EQ(*device.local<float>(0, kBank), -1.0F);
  ASSERT_TRUE(reduce(tpu_bdc_w_reduce, 2).ok);
  EXPECT_EQ(device.local<float>(0, kBank)[1], 2.0F);
  ASSERT_TRUE(reduce(tpu_bdc_hw_reduce, 3).ok);
  EXPECT_EQ(*device.local<float>(0, kBank), 9.0F);
  *device.local<float>(0, 0) = -6.0F;
  ASSERT_TRUE(reduce(tpu_bdc_hw_reduce, 1).ok);
  EXPECT_EQ(*device.local<float>(0, kBank), 6.0F);
  EXPECT_THAT(reduce(tpu_bdc_hw_reduce, 0).text, testing::HasSubstr("reduce_op (0) is not determined; 1, 2 and 3 are"));
  EXPECT_THAT(reduce(tpu_bdc_w_reduce, 3).text, testing::HasSubstr("reduce_op (3) is not determined; 2 is"));
}

// The order shows in what is rounded off: with 8 execution units, 1 is lost beside 2^24 where both are of one column.
TEST(Bm1684x2, AddPlanesInColumnsOfExecutionUnits) {
  TestDevice device("bm1684x2");
  const auto sum_of = [&](const std::array<float, 24>& plane) {
    std::memcpy(device.local<float>(0, 0), plane.data(), sizeof(plane));
    const dim4 shape{1, 1, 3, 8};
    const auto outcome =
        device.run([&] { tpu_bdc_hw_reduce(kBank, 0, &shape, nullptr, nullptr, 0, DT_FP32, DT_FP32, 3, 0); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<float>(0, kBank);
  };
  constexpr float kLarge = 0x1p24F;
  std::array<float, 24> plane{};
  plane[0] = kLarge;
  plane[16] = 1;  // the other even row: lost
  plane[1] = -kLarge;
  EXPECT_EQ(sum_of(plane), 0.0F);
  plane[16] = 0;
  plane[2] = 1;  // another pair of columns: after the large ones are gone
  EXPECT_EQ(sum_of(plane), 1.0F);
  plane[2] = 0;
  plane[8] = 1;  // the odd row of the same column: lost
  EXPECT_EQ(sum_of(plane), 0.0F);
}

TEST(Bm1684x2, SquareFp8) {
  const dim4 shape{1, 1, 1, 2};
  for (const char* chip : {"bm1684x2", "bm1690"}) {
    TestDevice device(chip);
    device.local<std::uint8_t>(0, 0)[0] = 0xC4;  // -3
    device.local<std::uint8_t>(0, 0)[1] = 0x5B;  // 22: its square is beyond the largest number
    const auto outcome = device.run([&] { tpu_bdc_fp_square(kBank, 0, &shape, nullptr, nullptr, DT_FP8E4M3); });
    if (device.chip().name == "bm1690") {
      EXPECT_THAT(outcome.text, testing::HasSubstr("dtype (fp8e4m3) is not determined on bm1690"));
      continue;
    }
    ASSERT_TRUE(outcome.ok) << outcome.text;
    EXPECT_EQ(device.local<std::uint8_t>(0, kBank)[0], 0x51);  // 9
    EXPECT_EQ(device.local<std::uint8_t>(0, kBank)[1], 0x7F);
  }
}

TEST(Bm1684x2, WantAConstantWhereNoFactorIsUsed) {
  const auto multiply = [](const char* chip, bool is_const) {
    TestDevice device(chip);
    return device.run([&] {
      tpu_bdc_fp8_mm(2 * kBank, 0, kBank, 1, 1, 1, DT_FP32, DT_FP8E4M3, DT_FP8E4M3, false, false, is_const,
                     var_context_t{});
    });
  };
  EXPECT_THAT(multiply("bm1684x2", false).text, testing::HasSubstr("rescale_is_const (0) has to be 1 on bm1684x2"));
  EXPECT_TRUE(multiply("bm1684x2", true).ok);
  EXPECT_TRUE(multiply("bm1690e", false).ok);
}

// Whatever the operands (golden bm1684x2, bm1690e: fp8_mm/fp8_mm_all_trans); the rules of the product hold.
TEST(Bm1684x2, GiveNansForFp8ProductsWithEverythingTransposed) {
  for (const char* chip : {"bm1684x2", "bm1690e"}) {
    TestDevice device(chip);
    constexpr int kRows = 3, kInner = 2, kColumns = 5;
    const auto half = static_cast<data_type_t>(device.chip().type_numbers.number_of(Dtype::kFp16));
    std::memset(device.local<std::uint8_t>(0, 2 * kBank), 0xA5, 16);
    const auto multiply = [&](data_type_t result, data_type_t left) {
      return device.run([&] {
        tpu_bdc_fp8_mm_all_trans(2 * kBank, 0, kBank, kRows, kInner, kColumns, result, left, DT_FP8E5M2, false, false,
                                 true, var_context_t{});
      });
    };
    const auto outcome = multiply(half, DT_FP8E4M3);
    ASSERT_TRUE(outcome.ok) << chip << ": " << outcome.text;
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column)
        EXPECT_EQ(device.local<std::uint16_t>(row, 2 * kBank)[column], 0x7FFF) << chip;
    }
    EXPECT_EQ(device.local<std::uint8_t>(0, 2 * kBank)[2 * kColumns], 0xA5) << chip;
    ASSERT_TRUE(multiply(DT_FP8E4M3, DT_FP8E5M2).ok) << chip;
    EXPECT_EQ(*device.local<std::uint8_t>(0, 2 * kBank), 0x7F) << chip;
    EXPECT_THAT(multiply(DT_FP32, half).text, testing::HasSubstr("left type is fp16")) << chip;
  }
}

// Where a function refuses a type for one of its arguments alone (golden bm1684x2, cv184x).
TEST(Bm1684x2, RefuseTypesOfSingleArguments) {
  TestDevice device("bm1684x2");
  const dim4 shape{1, 1, 1, 1};
  *device.local<float>(0, 0) = 8.0F;
  const auto exponent = [&](data_type_t dst, data_type_t src) {
    return device.run([&] { tpu_bdc_fp_exponent_part(kBank, 0, &shape, dst, src); });
  };
  EXPECT_THAT(exponent(DT_FP32, DT_FP32).text, testing::HasSubstr("dst_dtype (fp32) is not a type of this function"));
  EXPECT_TRUE(exponent(DT_INT32, DT_FP32).ok);
  // It is a step of functions that take floats.
  const auto logarithm = device.run([&] {
    tpu_bdc_load_fp32_log_coeff(2 * kBank);
    tpu_bdc_fp32_log(kBank, 0, 3 * kBank, 2 * kBank, &shape);
  });
  EXPECT_TRUE(logarithm.ok) << logarithm.text;

  TestDevice small("cv184x");
  const auto inverse = [&](local_addr_t dst, data_type_t type) {
    return small.run([&] { tpu_bdc_not(dst, 0, &shape, nullptr, nullptr, type); });
  };
  EXPECT_THAT(inverse(0, DT_INT8).text, testing::HasSubstr("dtype in place (int8) is not a type of this function"));
  EXPECT_TRUE(inverse(kBank, DT_INT8).ok);
  EXPECT_TRUE(inverse(0, DT_INT32).ok);
}

// Other chips refuse them.
TEST(Bm1684x2, TakeIndicesThatNameNoElement) {
  const dim4 shape{1, 1, 1, 2};
  const auto move = [&](TestDevice& device, auto function) {
    const float elements[] = {3.0F, 4.0F}, old[] = {5.0F, 6.0F};
    std::memcpy(device.local<float>(0, kBank), elements, sizeof(elements));
    std::memcpy(device.local<float>(0, 0), old, sizeof(old));
    *device.local<std::uint16_t>(0, 2 * kBank) = 7;
    *device.local<std::uint16_t>(1, 2 * kBank) = 0;
    return device.run([&] { function(0, kBank, 2 * kBank, &shape, 2, DT_FP32, DT_UINT16); });
  };
  TestDevice device("bm1684x2");
  ASSERT_TRUE(move(device, tpu_bdc_w_gather).ok);
  EXPECT_EQ(device.local<float>(0, 0)[0], 0.0F);
  EXPECT_EQ(device.local<float>(0, 0)[1], 3.0F);
  ASSERT_TRUE(move(device, tpu_bdc_w_scatter).ok);
  EXPECT_EQ(device.local<float>(0, 0)[0], 4.0F);
  EXPECT_EQ(device.local<float>(0, 0)[1], 6.0F);
  TestDevice other("bm1690");
  EXPECT_THAT(move(other, tpu_bdc_w_gather).text, testing::HasSubstr("index 0 is not below the extent"));
}

// Sums of FP8 are not recorded; the call ended with an internal error once.
TEST(Bm1684x2, RefuseToAddScatteredRowsOfFp8) {
  const dim4 shape{1, 1, 1, 1};
  for (const char* chip : {"bm1690", "bm1690e", "bm1684x2"}) {
    TestDevice device(chip);
    const std::uint64_t memory = device.scratch();
    const auto outcome = device.run([&] {
      tpu_gdma_h_scatter_S2S_ext(memory, memory + 4096, memory + 8192, false, &shape, 1, 0, 1, nullptr, nullptr,
                                 nullptr, DT_FP8E4M3);
    });
    EXPECT_FALSE(outcome.ok) << chip;
    EXPECT_THAT(outcome.text, testing::HasSubstr("output type is fp8e4m3")) << chip;
  }
}

TEST(Bm1684x2, RefuseTheWidthOfATypeThatTheyLack) {
  TestDevice device("bm1684x2");
  EXPECT_THAT(device.run([] { tpu_data_type_bits(DT_FP20); }).text, testing::HasSubstr("fp20"));
}

// Two groups of 32 bytes, and of 4-bit numbers, in each of two channels; the difference is rounded before the product.
TEST(Bm1684x2, DequantiseInGroups) {
  constexpr std::uint32_t kBf16One = 0x3F80, kBf16Two = 0x4000, kBf16Half = 0x3F00;
  constexpr auto kUint4 = static_cast<data_type_t>(12);
  for (const auto& [chip, number] :
       {std::pair{"bm1684x2", static_cast<data_type_t>(23)}, std::pair{"cv184x", DT_BFP16}}) {
    const data_type_t bf16 = number;  // Clang 14 captures no structured bindings
    TestDevice device(chip);
    const dim4 shape{1, 2, 1, 64};
    for (int npu : {0, 1}) {
      auto* quant = device.local<std::uint16_t>(npu, kBank);
      quant[0] = kBf16One;
      quant[1] = kBf16Two;
      quant[2] = 0x3B80;  // 1 / 256: lost beside 255
      quant[3] = kBf16Half;
      for (int i = 0; i < 64; ++i) device.local<std::uint8_t>(npu, 0)[i] = static_cast<std::uint8_t>(i < 32 ? 5 : 255);
    }
    const auto dequantise = [&](data_type_t from, const dim4& of, int group) {
      return device.run([&] { tpu_bdc_f16_group_dequant(2 * kBank, 0, kBank, &of, from, bf16, group); });
    };
    const auto outcome = dequantise(DT_UINT8, shape, 32);
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int npu : {0, 1}) {
      EXPECT_EQ(device.local<std::uint16_t>(npu, 2 * kBank)[31], 0x4100);  // 8
      EXPECT_EQ(device.local<std::uint16_t>(npu, 2 * kBank)[32], 0x42FF);  // 127.5
    }
    *device.local<std::uint8_t>(0, 0) = 0x31;
    ASSERT_TRUE(dequantise(kUint4, shape, 64).ok);
    EXPECT_EQ(device.local<std::uint16_t>(0, 2 * kBank)[0], 0);       // 1 - 1
    EXPECT_EQ(device.local<std::uint16_t>(0, 2 * kBank)[1], 0x4080);  // (3 - 1) * 2
    EXPECT_THAT(dequantise(DT_INT8, shape, 32).text, testing::HasSubstr("src_dtype (int8) is not determined"));
    EXPECT_THAT(dequantise(DT_UINT8, shape, 16).text, testing::HasSubstr("group (16) is not determined"));
    EXPECT_THAT(dequantise(DT_UINT8, dim4{2, 2, 1, 64}, 32).text, testing::HasSubstr("is not determined"));
    EXPECT_THAT(dequantise(DT_UINT8, dim4{1, 2, 1, 48}, 32).text, testing::HasSubstr("shape.w (48) is no multiple"));
  }
}

// A 3 x 3 input of 1 ... 9 under a 2 x 2 kernel, and a gradient of the output that takes the first place, and twice the
// last one.
TEST(Bm1684x2, GradientsOfConvolutionWeights) {
  TestDevice device("bm1684x2");
  for (int i = 0; i < 9; ++i) device.local<float>(0, 0)[i] = static_cast<float>(i + 1);
  device.local<float>(0, kBank)[0] = 1;
  device.local<float>(0, kBank)[3] = 2;
  const dim4 input{1, 1, 3, 3}, output{1, 1, 2, 2};
  const dim2 kernel{2, 2}, one{1, 1}, none{0, 0};
  const padding_t no_padding{0, 0, 0, 0};
  const auto gradient = [&](const dim2& stride, data_type_t type, const dim4& of) {
    return device.run([&] {
      tpu_bdc_fp_conv_bw(2 * kBank, 0, kBank, &input, nullptr, &of, &kernel, &no_padding, &stride, &one, DT_FP32, type,
                         false);
    });
  };
  const auto outcome = gradient(one, DT_FP32, output);
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const float* taps = device.local<float>(0, 2 * kBank);
  EXPECT_EQ((std::array{taps[0], taps[1], taps[2], taps[3]}), (std::array{11.0F, 14.0F, 20.0F, 23.0F}));
  EXPECT_THAT(gradient(kernel, DT_FP32, output).text, testing::HasSubstr("stride other than what is recorded"));
  EXPECT_THAT(gradient(one, DT_INT8, output).text, testing::HasSubstr("input type is int8"));
  EXPECT_THAT(gradient(one, DT_FP32, dim4{1, 1, 2, 1}).text, testing::HasSubstr("the input has 2 x 2 windows"));
  const auto backward = [&](data_type_t type, int mode) {
    return device.run([&] {
      tpu_bdc_fp_conv2d_backward(2 * kBank, 0, kBank, 0, &input, &output, &kernel, &none, &no_padding, &one, &one,
                                 nullptr, 1, 0, mode, type, DT_FP32);
    });
  };
  EXPECT_THAT(backward(DT_FP32, 0).text, testing::HasSubstr("input type is fp32"));
  EXPECT_THAT(backward(kFp16OfX2, 1).text, testing::HasSubstr("is not determined"));
  std::memset(device.local<float>(0, 2 * kBank), 0xA5, 512);
  for (int i = 0; i < 9; ++i) device.local<std::uint16_t>(0, 0)[i] = kHalfOne;
  for (int i = 0; i < 4; ++i) device.local<std::uint16_t>(0, kBank)[i] = kHalfOne;
  ASSERT_TRUE(backward(kFp16OfX2, 0).ok);
  EXPECT_EQ(taps[0], 4.0F);
  EXPECT_EQ(taps[16], 4.0F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(taps[1]), 0xA5A5A5A5U);
}

TEST(Bm1684x2, TakeWhatOthersRefuse) {
  for (const char* chip : {"bm1684x2", "bm1690"}) {
    TestDevice device(chip);
    const bool takes = device.chip().name == "bm1684x2";
    EXPECT_EQ(device.run([&] { tpu_gdma_system_cpy(0x1000000000, 0x1000000000, 0, DT_FP32); }).ok, takes);
    const auto named = device.run([&] {
      EXPECT_EQ(tpu_rank(), 0);
      if (!takes) return;
      EXPECT_EQ(tpu_cdma_get_port(0, 1, 0), 0);
    });
    EXPECT_TRUE(named.ok) << named.text;
  }
}

}  // namespace
}  // namespace softtpu::bm1684x2_test
