// Rules in which newer chips differ (device/chip/rules.def), with arguments that their recordings keep fixed.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::newer_chips_test {
namespace {

constexpr std::uint32_t kBank = 0x2000;
constexpr std::uint16_t kHalfOne = 0x3C00, kHalfNan = 0x7E00;

scalar_t bits(std::uint32_t value) {
  scalar_t scalar;
  scalar.u32 = value;
  return scalar;
}

// A product of one row and one column with a NaN of either sign, and a bias that is one.
std::uint16_t nan_of_product(const char* chip, std::uint16_t operand, std::uint32_t bias) {
  TestDevice device(chip);
  *device.local<std::uint16_t>(0, 0) = operand;
  *device.local<std::uint16_t>(0, kBank) = kHalfOne;
  *device.local<std::uint32_t>(0, 2 * kBank) = bias;
  const dim4 shape{1, 1, 1, 1};
  const dim2 one{1, 1};
  const padding_t none{0, 0, 0, 0};
  const auto outcome = device.run([&] {
    tpu_bdc_fp_conv2d(3 * kBank, 0, kBank, 2 * kBank, &shape, nullptr, 1, &one, &none, &one, &one, DT_FP16, DT_FP16,
                      true, false);
  });
  EXPECT_TRUE(outcome.ok) << outcome.text;
  return *device.local<std::uint16_t>(0, 3 * kBank);
}

TEST(NewerChips, GiveNansOfHalfProductsTheSignOfTheSum) {
  EXPECT_EQ(nan_of_product("bm1684x-23.05", kHalfNan, 0), 0x7FFF);
  for (const char* chip : {"bm1684x", "bm1688"}) {
    EXPECT_EQ(nan_of_product(chip, kHalfNan, 0), 0xFFFF) << chip;
    EXPECT_EQ(nan_of_product(chip, kHalfNan | 0x8000, 0), 0xFFFF) << chip;
    EXPECT_EQ(nan_of_product(chip, kHalfOne, 0x7FC00000), 0x7FFF) << chip;
    EXPECT_EQ(nan_of_product(chip, kHalfNan, 0x7FC00000), 0x7FFF) << chip;
    EXPECT_EQ(nan_of_product(chip, kHalfOne, 0xFFC00000), 0xFFFF) << chip;
    EXPECT_EQ(nan_of_product(chip, kHalfOne, 0x3F800000), 0x4000) << chip;
  }
}

// The larger or smaller of two taps in an input of one row.
float best_of(const char* chip, bool largest, float first, float second) {
  TestDevice device(chip);
  device.local<float>(0, 0)[0] = first;
  device.local<float>(0, 0)[1] = second;
  const dim4 shape{1, 1, 1, 2};
  const dim2 kernel{1, 2}, one{1, 1};
  const padding_t none{0, 0, 0, 0};
  const auto outcome = device.run([&] {
    const auto pool = largest ? tpu_bdc_fp_max_pool2d : tpu_bdc_fp_min_pool2d;
    pool(kBank, 0, &shape, &kernel, &none, &one, &one, DT_FP32, bits(0));
  });
  EXPECT_TRUE(outcome.ok) << outcome.text;
  return *device.local<float>(0, kBank);
}

TEST(NewerChips, KeepTheFirstOfEqualsAndNoNanInPoolings) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(best_of("bm1684x", true, 1, nan)));
  EXPECT_EQ(best_of("bm1688", true, 1, nan), 1);
  EXPECT_EQ(best_of("bm1688", true, nan, 1), 1);
  EXPECT_EQ(best_of("bm1688", false, nan, 1), 1);
  EXPECT_EQ(best_of("bm1688", true, nan, nan), std::numeric_limits<float>::lowest());
  EXPECT_FALSE(std::signbit(best_of("bm1688", true, 0.0F, -0.0F)));
  EXPECT_TRUE(std::signbit(best_of("bm1688", true, -0.0F, 0.0F)));
  EXPECT_TRUE(std::signbit(best_of("bm1684x", true, 0.0F, -0.0F)));
}

TEST(NewerChips, HandNoSubnormalNumberOnFromPoolings) {
  const auto pooled = [](const char* chip, std::uint16_t first, std::uint16_t second) {
    TestDevice device(chip);
    device.local<std::uint16_t>(0, 0)[0] = first;
    device.local<std::uint16_t>(0, 0)[1] = second;
    const dim4 shape{1, 1, 1, 2};
    const dim2 kernel{1, 2}, one{1, 1};
    const padding_t none{0, 0, 0, 0};
    const auto outcome =
        device.run([&] { tpu_bdc_fp_max_pool2d(kBank, 0, &shape, &kernel, &none, &one, &one, DT_BFP16, bits(0)); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::uint16_t>(0, kBank);
  };
  EXPECT_EQ(pooled("bm1684x", 0x0045, 0x0001), 0x0001);
  EXPECT_EQ(pooled("bm1690", 0x0045, 0x0001), 0x0000);
  EXPECT_EQ(pooled("bm1690", 0x8045, 0x0001), 0x8000);
  EXPECT_EQ(pooled("bm1690", 0x8045, 0x0080), 0x0080);
}

TEST(NewerChips, KeepWhatIntRequantShiftsToTheLeft) {
  const auto requantised = [](const char* chip, std::int32_t value, char shift) {
    TestDevice device(chip);
    *device.local<std::int32_t>(0, kBank) = value;
    const dim4 shape{1, 1, 1, 1};
    const auto outcome = device.run(
        [&] { tpu_bdc_int_requant(0, kBank, &shape, 3, shift, bits(0), DT_INT8, DT_INT32, RM_HALF_TO_EVEN); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::int8_t>(0, 0);
  };
  constexpr std::int32_t kLarge = -1515870811;
  EXPECT_EQ(requantised("bm1684x", kLarge, 31), 127);
  EXPECT_EQ(requantised("bm1688", kLarge, 31), -128);
  EXPECT_EQ(requantised("bm1688", -kLarge, 31), 127);
  EXPECT_EQ(requantised("bm1688", 20, 1), 120);
  EXPECT_EQ(requantised("bm1688", 20, -2), 15);
}

TEST(NewerChips, RefuseAShiftOfConstantBests) {
  const dim4 shape{1, 1, 1, 3};
  TestDevice old("bm1684x"), newer("bm1688");
  const auto best = [&](char shift) {
    tpu_bdc_int_max_C(0, kBank, bits(5), &shape, nullptr, nullptr, DT_INT16, shift, RM_DOWN);
  };
  EXPECT_TRUE(old.run([&] { best(-1); }).ok);
  EXPECT_TRUE(newer.run([&] { best(0); }).ok);
  for (const char shift : {char{1}, static_cast<char>(-1)}) newer.expect_fault([&] { best(shift); }, "shift");
}

// Any number of elements: whole vectors, what is left of them, and their plain neighbours.
TEST(NewerChips, RoundEachStepOfHalfRootsToTheType) {
  TestDevice device("bm1688");
  constexpr int kCount = 37;
  const std::uint16_t cases[] = {0x4400, 0x0000, 0x8000, 0x7C00, 0x7E01, 0xC000, 0x8001, 0x3555};
  const std::uint16_t expected[] = {0x3800, 0x7C00, 0xFC00, 0x0000, 0x7FFF, 0x7FFF, 0x20D6, 0x3EED};
  for (int i = 0; i < kCount; ++i) device.local<std::uint16_t>(0, kBank)[i] = cases[i % 8];
  const dim4 shape{1, 1, 1, kCount};
  const auto outcome = device.run([&] { tpu_bdc_fp_rsqrt(0, kBank, &shape, DT_FP16); });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  for (int i = 0; i < kCount; ++i) {
    const std::uint16_t result = device.local<std::uint16_t>(0, 0)[i];
    EXPECT_EQ(result, expected[i % 8]) << i;
  }
}

TEST(NewerChips, TakeRegionsBeyondTheInputAndTheKernel) {
  TestDevice device("bm1684x");
  for (int c = 0; c < 2; ++c)
    for (int i = 0; i < 6; ++i) device.local<float>(c, 0)[i] = static_cast<float>(10 * c + i);
  // First w, first h, last w, last h: behind the end of row 0, larger than the kernel, upside down, left of the input,
  // behind the last element.
  const std::int16_t regions[5][4] = {{2, 0, 3, 0}, {0, 0, 2, 1}, {1, 1, 0, 1}, {-1, 0, 0, 0}, {2, 1, 3, 1}};
  for (int r = 0; r < 5; ++r) std::memcpy(device.local<std::uint8_t>(r, kBank), regions[r], sizeof(regions[r]));
  const dim4 shape{1, 2, 2, 3};
  const dim2 kernel{1, 2};
  const auto outcome = device.run(
      [&] { tpu_bdc_fp_roi_max_pool2d(2 * kBank, 0, kBank, &shape, 5, &kernel, DT_FP32, bits(0xC2C80000)); });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const float expected[2][5] = {{3, 1, -100, -100, 10}, {13, 11, -100, -100, 15}};
  for (int c = 0; c < 2; ++c) {
    for (int r = 0; r < 5; ++r) EXPECT_EQ(device.local<float>(c, 2 * kBank)[r], expected[c][r]) << c << ' ' << r;
  }
  TestDevice old("bm1684x-23.05");
  std::memcpy(old.local<std::uint8_t>(0, kBank), regions[0], sizeof(regions[0]));
  old.expect_fault([&] { tpu_bdc_fp_roi_max_pool2d(2 * kBank, 0, kBank, &shape, 1, &kernel, DT_FP32, bits(0)); },
                   "lies outside the input");
}

// left (1 x 2) times right (2 x 1) less 16-bit zero points that differ from NPU to NPU.
TEST(NewerChips, TakeZeroPointsOffOnEachRowsNpu) {
  TestDevice device("bm1688");
  device.local<std::int8_t>(0, 0)[0] = -3;
  device.local<std::int8_t>(0, 0)[1] = 2;
  const std::uint8_t right[] = {200, 7};  // the first is -56 beside signed left elements
  const std::int16_t points[] = {-1000, 300};
  for (int k = 0; k < 2; ++k) {
    *device.local<std::uint8_t>(k, kBank) = right[k];
    *device.local<std::int16_t>(k, 2 * kBank) = points[k];
  }
  const auto outcome =
      device.run([] { tpu_bdc_int8_pc_zp_mm(3 * kBank, 0, kBank, 2 * kBank, 1, 2, 1, DT_INT8, DT_UINT8, false); });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  EXPECT_EQ(*device.local<std::int32_t>(0, 3 * kBank), -3 * (-56 + 1000) + 2 * (7 - 300));
}

TEST(NewerChips, LetTheElementsNanSurviveScales) {
  const auto scaled = [](const char* chip) {
    TestDevice device(chip);
    *device.local<std::uint32_t>(0, kBank) = 0x7FFFFFFF;
    *device.local<std::uint32_t>(0, 2 * kBank) = 0xFFABCDEF;
    const dim4 shape{1, 1, 1, 1};
    const auto outcome = device.run([&] { tpu_bdc_fp_scale(0, kBank, 2 * kBank, &shape, DT_FP32); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::uint32_t>(0, 0);
  };
  EXPECT_EQ(scaled("bm1684x-23.05"), 0xFFEBCDEFU);
  EXPECT_EQ(scaled("bm1684x"), 0x7FFFFFFFU);
}

// A NaN as scale comes out as the chip's NaN, with a scale for all and with one for each channel (golden cv184x).
TEST(NewerChips, DequantiseByANanToTheChipsNan) {
  static constexpr std::uint32_t kScale = 0x7FABCDEF;
  const auto dequantised = [](const char* chip, bool per_channel) {
    TestDevice device(chip);
    *device.local<std::int8_t>(0, 0) = 5;
    const std::uint32_t record[] = {3, kScale};
    std::memcpy(device.local<std::uint8_t>(0, kBank), record, sizeof(record));
    const dim4 shape{1, 1, 1, 1};
    const auto outcome = device.run([&] {
      if (per_channel) return tpu_bdc_fp32_pc_dequant(2 * kBank, 0, kBank, &shape, DT_INT8, RM_HALF_TO_EVEN);
      tpu_bdc_fp32_dequant(2 * kBank, 0, &shape, bits(3), std::bit_cast<float>(kScale), DT_INT8, RM_HALF_TO_EVEN);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::uint32_t>(0, 2 * kBank);
  };
  for (const bool per_channel : {false, true}) {
    for (const char* chip : {"bm1690", "cv184x"}) EXPECT_EQ(dequantised(chip, per_channel), 0x7FFFFFFFU) << chip;
    EXPECT_EQ(dequantised("bm1688", per_channel), kScale | 0x00400000U);
  }
}

// A bias in memory: a row on the NPU of each row of the result, as FP8 products of BM1690 are recorded (golden
// bm1690/fp8_mm), or one row for all.
TEST(NewerChips, ReadABiasOnTheNpuOfEachRow) {
  const auto sums = [](const char* chip) {
    TestDevice device(chip);
    for (int row = 0; row < 2; ++row) {
      *device.local<std::uint16_t>(row, 0) = kHalfOne;
      *device.local<float>(row, 2 * kBank) = static_cast<float>(10 * (row + 1));
    }
    *device.local<std::uint16_t>(0, kBank) = kHalfOne;
    var_context_t bias{};
    bias.addr = 2 * kBank;
    const auto outcome = device.run([&] {
      tpu_bdc_fp_mm_with_bias(3 * kBank, 0, kBank, 2, 1, 1, DT_FP32, DT_FP16, DT_FP32, false, false, bias, false);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return std::pair(*device.local<float>(0, 3 * kBank), *device.local<float>(1, 3 * kBank));
  };
  for (const char* chip : {"bm1690", "bm1690e", "bm1688"}) EXPECT_EQ(sums(chip), std::pair(11.0F, 21.0F)) << chip;
  for (const char* chip : {"bm1684x", "bm1684x-23.05"}) EXPECT_EQ(sums(chip), std::pair(11.0F, 11.0F)) << chip;
}

// Indices in system memory of which a channel overlaps the next one (golden bm1688-varied/m_c/gdma_h_scatter_S2L/000).
TEST(NewerChips, RefuseIndicesOfChannelsThatOverlap) {
  const dim4 shape{1, 2, 4, 1};
  const auto moved = [&](const char* chip, int c_stride, bool scatters) {
    TestDevice device(chip);
    const dim4 stride{1, c_stride, 1, 1};
    const std::uint64_t param = device.scratch(), index = param + 0x1000;
    return device.run([&] {
      if (scatters)
        return tpu_gdma_h_scatter_S2L(0, param, index, false, &shape, 4, nullptr, nullptr, &stride, DT_UINT32);
      tpu_gdma_h_gather_S2L(0, param, index, false, bits(0), &shape, 4, nullptr, nullptr, &stride, DT_UINT32);
    });
  };
  for (const bool scatters : {false, true}) {
    for (const int overlapping : {1, 3}) {
      const auto outcome = moved("bm1688", overlapping, scatters);
      EXPECT_FALSE(outcome.ok);
      EXPECT_NE(outcome.text.find(std::to_string(overlapping) + ") lets the indices of a channel overlap"),
                std::string::npos)
          << outcome.text;
      EXPECT_TRUE(moved("bm1684x", overlapping, scatters).ok);
    }
    for (const int apart : {0, 4, 5}) EXPECT_TRUE(moved("bm1688", apart, scatters).ok) << apart;
  }
}

// What is shifted to the left keeps its sign and the low 63 bits; the count is one of 64.
TEST(NewerChips, KeepTheSignOfWhatIsDequantised) {
  const auto dequantised = [](std::int8_t value, std::int32_t multiplier, std::int8_t shift, data_type_t type) {
    TestDevice device("bm1690");
    *device.local<std::int8_t>(0, 0) = value;
    const std::uint32_t record[] = {static_cast<std::uint32_t>(multiplier), static_cast<std::uint8_t>(shift)};
    std::memcpy(device.local<std::uint8_t>(0, kBank), record, sizeof(record));
    const dim4 shape{1, 1, 1, 1};
    const auto outcome =
        device.run([&] { tpu_bdc_int_pc_dequant(2 * kBank, 0, kBank, &shape, type, DT_INT8, RM_HALF_AWAY_FROM_ZERO); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::int32_t>(0, 2 * kBank);
  };
  constexpr std::int32_t kLowest = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(dequantised(-112, -3, 60, DT_INT32), 0);
  EXPECT_EQ(dequantised(115, -3, 60, DT_INT32), kLowest);
  EXPECT_EQ(dequantised(112, -3, 60, DT_INT32), kLowest);
  EXPECT_EQ(dequantised(-17, -3, 60, DT_INT32), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(dequantised(90, -1, 66, DT_INT32), -360);
  EXPECT_EQ(dequantised(-90, 7, -2, DT_INT32), -158);
}

// Sums that requantisation shifts to the left keep their sign beside 63 bits, and 64 places are none: what goes beyond
// is nothing, the rest saturates (golden bm1688: new_pool/bdc_depthwise2d_requant_pc_asym_C/012, 023; the sweep around
// them is in numerics newer-rules.md section 1).
TEST(NewerChips, KeepTheSignOfSumsThatGoFarToTheLeft) {
  const auto result = [](std::int32_t sum, int shift) {
    TestDevice device("bm1688");
    *device.local<std::int8_t>(0, 0) = 1;
    *device.local<std::int8_t>(0, kBank) = 1;
    *device.local<std::int32_t>(0, 2 * kBank) = sum - 1;
    *device.local<std::int32_t>(0, 3 * kBank) = 1;
    *device.local<std::int32_t>(0, 3 * kBank + 4) = shift;
    const dim4 shape{1, 1, 1, 1};
    const dim2 one{1, 1};
    const padding_t none{0, 0, 0, 0};
    const auto outcome = device.run([&] {
      tpu_bdc_depthwise2d_requant_pc_asym_C(4 * kBank, 0, kBank, 2 * kBank, 3 * kBank, bits(0), &shape, &one, &none,
                                            &one, &one, DT_INT8, DT_INT8, DT_INT8, DT_INT32, true, true, false, false,
                                            RM_HALF_TO_EVEN);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return int{*device.local<std::int8_t>(0, 4 * kBank)};
  };
  EXPECT_EQ(result(16, 123), 0);
  EXPECT_EQ(result(48, 123), 0);
  EXPECT_EQ(result(16, 122), 127);
  EXPECT_EQ(result(8, 123), 127);
  EXPECT_EQ(result(30, 123), 127);
  EXPECT_EQ(result(-1, 127), -128);
  EXPECT_EQ(result(-16, 123), -128);
  EXPECT_EQ(result(1, 127), 0);
  EXPECT_EQ(result(2, 63), 0);
  EXPECT_EQ(result(1, 60), 127);
  EXPECT_EQ(result(8, 60), 0);
  EXPECT_EQ(result(5, 64), 5);
  EXPECT_EQ(result(3, 1), 6);
}

// Core 1 finds its memories at the addresses that it gets, and where core 0 finds them.
TEST(NewerChips, TellEachCoreWhereItsMemoriesLie) {
  TestDevice device("bm1688");
  Core core(device.memories(), 1);
  *device.local<std::uint32_t>(0, 0) = 0x12345678;
  const dim4 shape{1, 1, 1, 1};
  const std::function<void()> kernel = [&] {
    EXPECT_EQ(tpu_l2_sram_get_start_addr(), 0x111000000U);
    EXPECT_EQ(tpu_local_mem_get_start_addr(), 0x25400000U);
    tpu_gdma_cpy_L2S(tpu_l2_sram_get_start_addr() + 64, 0, &shape, nullptr, nullptr, DT_UINT32);
    tpu_gdma_cpy_L2S(0x101000000 + 128, 0, &shape, nullptr, nullptr, DT_UINT32);
    tpu_gdma_cpy_S2L(64, tpu_local_mem_get_start_addr(), &shape, nullptr, nullptr, DT_UINT32);
    EXPECT_EQ(tpu_l2_sram_addr(0x111000000 + 64), tpu_l2_sram_addr(0x101000000 + 64));
  };
  const auto call = [](const void* function) { (*static_cast<const std::function<void()>*>(function))(); };
  const LaunchOutcome outcome = core.run(call, "test", &kernel);
  EXPECT_TRUE(outcome.ok) << outcome.text;
  for (const int offset : {64, 128}) {
    std::uint32_t stored = 0;
    std::memcpy(&stored, device.memories().l2() + offset, sizeof stored);
    EXPECT_EQ(stored, 0x12345678U) << offset;
  }
  EXPECT_EQ(*device.local<std::uint32_t>(0, 64), 0x12345678U);
}

TEST(NewerChips, LoseReversalsToOtherNpusWhereTheChipDoes) {
  const dim4 shape{1, 2, 1, 1};
  for (const bool lost : {true, false}) {
    TestDevice device(lost ? "bm1688" : "bm1690");
    const std::uint32_t npu = device.chip().local_bytes;
    for (int c = 0; c < 2; ++c) {
      *device.local<std::uint32_t>(1 + c, 0) = static_cast<std::uint32_t>(10 + c);
      *device.local<std::uint32_t>(1 + c, kBank) = 99;
    }
    const auto outcome =
        device.run([&] { tpu_gdma_reverse_L2L(npu + kBank, npu, &shape, nullptr, nullptr, TENSOR_C_DIM, DT_UINT32); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    EXPECT_EQ(*device.local<std::uint32_t>(1, kBank), lost ? 99U : 11U);
    EXPECT_EQ(*device.local<std::uint32_t>(2, kBank), lost ? 99U : 10U);
  }
}

// Every chip of today does (golden bm1684x-1.30-varied, bm1688-varied: v_gdma_index/scatter_L2S); the BM1684X of before
// reads each NPU's own.
TEST(NewerChips, ScatterTheFirstNpusRowsForAllChannels) {
  const dim4 shape{1, 2, 1, 1}, repeated{1, 0, 1, 1};
  for (const char* chip : {"bm1690", "bm1688", "bm1684x", "bm1684x-23.05"}) {
    TestDevice device(chip);
    const bool first = std::string(chip) != "bm1684x-23.05";
    for (int c = 0; c < 2; ++c) {
      *device.local<std::uint32_t>(1 + c, 0) = static_cast<std::uint32_t>(10 + c);
      *device.local<std::uint32_t>(1 + c, kBank) = 0;  // the index
    }
    const std::uint32_t npu = device.chip().local_bytes;
    const std::uint64_t out = device.scratch();
    const auto outcome = device.run([&] {
      tpu_gdma_h_scatter_L2S(out, npu, npu + kBank, true, &shape, 1, nullptr, &repeated, nullptr, DT_UINT32);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    const auto* stored =
        reinterpret_cast<const std::uint32_t*>(device.memories().global() + (out - device.chip().global_mem.start));
    EXPECT_EQ(stored[0], 10U) << chip;
    EXPECT_EQ(stored[1], first ? 10U : 11U) << chip;
  }
}

// BM1690 takes no shift (numerics newer-rules.md section 1: mm_int/bdc_int8_mm_L_const/021, _L_trans/024).
TEST(NewerChips, TakeABiasOfTheirOwnWidth) {
  for (const char* chip : {"bm1684x", "bm1688", "bm1690"}) {
    TestDevice device(chip);
    const bool wide = std::string(chip) != "bm1684x", shifts = std::string(chip) != "bm1690";
    const auto product = [&](data_type_t bias, int rshift) {
      return [bias, rshift] {
        tpu_bdc_int8_mm(3 * kBank, 0, kBank, 2 * kBank, 1, 1, 1, 1, 1, DT_INT8, DT_INT8, DT_INT8, bias, 0,
                        static_cast<std::uint8_t>(rshift), true, false, false);
      };
    };
    const auto outcome = device.run(product(wide ? DT_INT32 : DT_INT16, shifts ? 1 : 0));
    EXPECT_TRUE(outcome.ok) << chip << ": " << outcome.text;
    device.expect_fault(product(wide ? DT_INT16 : DT_INT32, 0), "bias type is");
    if (!shifts) device.expect_fault(product(DT_INT32, 1), "rshift (1) is outside 0..0");
  }
}

// The largest index is an index as any other there.
TEST(NewerChips, RefuseMissingRowsOfBatches) {
  const dim4 shape{1, 1, 1, 2};
  for (const bool refused : {true, false}) {
    TestDevice device(refused ? "bm1688" : "bm1690");
    *device.local<std::uint16_t>(0, 2 * kBank) = 0xFFFF;
    const auto gather = [&] {
      tpu_bdc_batch_bcast_h_gather_exception(3 * kBank, 0, 2 * kBank, bits(7), &shape, 4, DT_UINT32, DT_UINT16, false,
                                             true);
    };
    if (refused) {
      device.expect_fault(gather, "is not below the extent");
    } else {
      const auto outcome = device.run(gather);
      EXPECT_TRUE(outcome.ok) << outcome.text;
      EXPECT_EQ(*device.local<std::uint32_t>(0, 3 * kBank), 7U);
    }
  }
}

TEST(NewerChips, GoOnBehindTheEndOfAList) {
  TestDevice device("bm1688");
  const dim4 shape{1, 1, 1, 1};
  const auto outcome = device.run([&] {
    tpu_bdc_end();
    tpu_bdc_set_C(0, bits(5), &shape, nullptr, DT_UINT32);
    tpu_bdc_end();
  });
  EXPECT_TRUE(outcome.ok) << outcome.text;
  EXPECT_EQ(*device.local<std::uint32_t>(0, 0), 5U);
}

TEST(NewerChips, AnswerForStartNpusAndTypesThatTheyLack) {
  TestDevice device("bm1688"), other("bm1690");
  const dim4 shape{4, 200, 2, 3};
  int answers[5] = {};
  ASSERT_TRUE(device
                  .run([&] {
                    answers[0] = tpu_get_local_size(&shape, DT_FP32, 63, true);
                    answers[1] = tpu_get_local_size(&shape, DT_INT32, 63, false);
                    answers[2] = tpu_get_local_nstride(48, 130, 63);
                    answers[3] = tpu_get_ic_parallel(DT_INT4);
                  })
                  .ok);
  ASSERT_TRUE(other.run([&] { answers[4] = tpu_get_ic_parallel(DT_INT4) + 10 * tpu_tpuv7_env(); }).ok);
  EXPECT_EQ(answers[0], 1152);
  EXPECT_EQ(answers[1], 864);
  EXPECT_EQ(answers[2], 336);
  EXPECT_EQ(answers[3], 64);
  EXPECT_EQ(answers[4], 11);
  // There are no such NPUs, which only the BM1684X of before minds (golden bm1684x-1.30-varied:
  // m_a/get_local_nstride/000; golden bm1688-varied: m_a/get_local_size/000).
  EXPECT_TRUE(device.run([&] { EXPECT_EQ(tpu_get_local_nstride(48, 130, 64), 336); }).ok);
  TestDevice older("bm1684x-23.05");
  older.expect_fault([&] { static_cast<void>(tpu_get_local_nstride(48, 130, 64)); }, "start_idx (64) is outside 0..63");
  device.expect_fault([&] { static_cast<void>(tpu_l2_sram_addr(0x101000000 + 0x200000)); }, "is outside L2 SRAM");
  EXPECT_TRUE(device.run([&] { EXPECT_NE(tpu_l2_sram_addr(0x101000000 + 0x1FFFFF), nullptr); }).ok);
}

// Golden cv184x fp_div/div/012: its base gives an infinity here.
TEST(NewerChips, DivideSubnormalsByZeroAsZerosOnCv184x) {
  const auto quotient = [](const char* chip) {
    TestDevice device(chip);
    *device.local<std::uint32_t>(0, 0) = 0x400000;
    *device.local<std::uint32_t>(0, kBank) = 0;
    const dim4 shape{1, 1, 1, 1};
    const auto outcome = device.run([&] { tpu_bdc_fp32_div(2 * kBank, 0, kBank, &shape, nullptr, nullptr, nullptr); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::uint32_t>(0, 2 * kBank);
  };
  EXPECT_EQ(quotient("bm1688"), 0x7F800000U);
  EXPECT_EQ(quotient("cv184x"), 0x7FFFFFFFU);
}

// numerics bm1690.md section 3: quotients of halves exist there, and BM1684X refuses them (golden bm1684x-1.30-varied
// m_a/bdc_fp_tunable_reciprocal/002). BM1688 has them recorded.
TEST(NewerChips, DivideHalvesWhereTheChipDoes) {
  const dim4 shape{1, 1, 1, 4};
  const auto divide = [&] { tpu_bdc_fp_div(2 * kBank, 0, kBank, &shape, nullptr, nullptr, nullptr, DT_FP16); };
  const std::uint16_t above[] = {0x4600, 0x3C00, 0x3C00, 0x0000}, below[] = {0x4000, 0x0000, 0x7C00, 0x0000};
  const std::uint16_t expected[] = {0x4200, 0x7C00, 0x0000, 0x7FFF};
  for (const char* chip : {"bm1688", "bm1690"}) {
    TestDevice device(chip);
    std::copy_n(above, 4, device.local<std::uint16_t>(0, 0));
    std::copy_n(below, 4, device.local<std::uint16_t>(0, kBank));
    const auto outcome = device.run(divide);
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(device.local<std::uint16_t>(0, 2 * kBank)[i], expected[i]) << chip << i;
  }
  TestDevice older("bm1684x");
  older.expect_fault(divide, "dtype is fp16 (allowed: fp32)");
}

// numerics newer-rules.md: int8_sym_quant_conv2d_for_deconv2d of today's BM1684X takes an output 4 bytes further on.
TEST(NewerChips, StoreSumsOfBytesAtMultiplesOfFour) {
  const dim4 shape{1, 1, 1, 4};
  const dim2 one{1, 1}, none{0, 0};
  const padding_t padding{0, 0, 0, 0};
  const auto sum = [&](bool transposed, local_addr_t output) {
    return [=] {
      if (transposed)
        tpu_bdc_int8_sym_quant_conv2d_for_deconv2d(output, 0, kBank, 2 * kBank, &shape, nullptr, 1, &one, &none,
                                                   &padding, &one, DT_UINT8, DT_UINT8, DT_UINT8, DT_UINT16, 0, false,
                                                   false);
      else
        tpu_bdc_int8_sym_quant_conv2d(output, 0, kBank, 2 * kBank, &shape, nullptr, 1, &one, &padding, &one, &one,
                                      DT_UINT8, DT_UINT8, DT_UINT8, DT_UINT16, 0, false, false);
    };
  };
  for (const bool transposed : {false, true}) {
    TestDevice device("bm1684x"), older("bm1684x-23.05");
    std::fill_n(device.local<std::uint8_t>(0, 3 * kBank), 16, 0xA5);
    *device.local<std::uint32_t>(0, 0) = 0x04030201;
    *device.local<std::uint8_t>(0, kBank) = 3;
    const auto outcome = device.run(sum(transposed, 3 * kBank + 4));
    ASSERT_TRUE(outcome.ok) << outcome.text;
    EXPECT_EQ(*device.local<std::uint32_t>(0, 3 * kBank), 0xA5A5A5A5U);
    EXPECT_EQ(*device.local<std::uint32_t>(0, 3 * kBank + 4), 0x0C090603U);
    device.expect_fault(sum(transposed, 3 * kBank + 2), "is not a multiple of 4");
    older.expect_fault(sum(transposed, 3 * kBank + 4), "is not a multiple of 8");
  }
}

// numerics newer-rules.md: npu_distribute_from_static of BM1690 brings no zeros from behind the tables. Its emulator's
// memories begin as words of 0xdeadbeef, which the gaps between the tables show.
TEST(NewerChips, FillStaticMemoryBehindItsTables) {
  const auto word = [](const char* chip) {
    TestDevice device(chip);
    const auto outcome = device.run([] { tpu_bdc_npu_distribute_from_static(0, 2944, 64, DT_INT32); });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return *device.local<std::uint32_t>(63, 0);
  };
  EXPECT_EQ(word("bm1690"), 0xDEADBEEFU);
}

// CV184X refuses them, where other chips move whole rows.
TEST(NewerChips, ExchangeBatchesAndChannelsByUnitStrides) {
  TestDevice device("cv184x");
  const dim4 shape{2, 2, 2, 3}, dst{24, 12, 6, 2}, src{26, 13, 6, 2};
  const auto outcome = device.run(
      [&] { tpu_gdma_cpy_nc_trans_S2S(device.scratch(), device.scratch() + 4096, &shape, &dst, &src, DT_FP32); });
  EXPECT_THAT(outcome.text, testing::HasSubstr("w stride (2) must be 1"));
}

}  // namespace
}  // namespace softtpu::newer_chips_test
