// 4-bit integers, two to a byte, the low half first. Which chips take them where is as in the recordings of
// reports int4-types; values are counted out here.
#include <cstdint>
#include <vector>

#include "device/memory/kernel_choice.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::packed_test {
namespace {

constexpr std::uint32_t kSource = 0x1000, kOther = 0x2000, kResult = 0x4000;

int value_of(std::uint8_t byte, int half, bool is_signed) {
  const int bits = byte >> (4 * half) & 0xF;
  return is_signed && bits >= 8 ? bits - 16 : bits;
}

void fill(TestDevice& device, std::uint32_t offset, int factor) {
  for (int npu = 0; npu < device.chip().npu_num; ++npu) {
    for (int i = 0; i < 0x1000; ++i)
      *device.local<std::uint8_t>(npu, offset + static_cast<std::uint32_t>(i)) =
          static_cast<std::uint8_t>((i + 5 * npu) * factor + 11);
  }
}

// Element [n, c, h, w] of 4 bits in the aligned layout.
int nibble(TestDevice& device, std::uint32_t offset, const dim4& shape, int n, int c, int h, int w, bool is_signed) {
  const int in_row = 2 * device.chip().eu_bytes, npus = device.chip().npu_num;
  const int channel = (shape.h * shape.w + in_row - 1) / in_row * in_row;
  const int groups = (shape.c + npus - 1) / npus;
  const int at = n * groups * channel + c / npus * channel + h * shape.w + w;
  return value_of(*device.local<std::uint8_t>(c % npus, offset + static_cast<std::uint32_t>(at / 2)), at % 2,
                  is_signed);
}

template <class T>
T result(TestDevice& device, const dim4& shape, int n, int c, int h, int w) {
  const int in_row = device.chip().eu_bytes / static_cast<int>(sizeof(T)), npus = device.chip().npu_num;
  const int channel = (shape.h * shape.w + in_row - 1) / in_row * in_row;
  const int groups = (shape.c + npus - 1) / npus;
  return device.local<T>(c % npus, kResult)[n * groups * channel + c / npus * channel + h * shape.w + w];
}

template <class Check>
void for_each_element(const dim4& shape, Check check) {
  for (int n = 0; n < shape.n; ++n)
    for (int c = 0; c < shape.c; ++c)
      for (int h = 0; h < shape.h; ++h)
        for (int w = 0; w < shape.w; ++w) check(n, c, h, w);
}

const dim4 kShapes[] = {{1, 2, 1, 8}, {2, 3, 1, 5}, {1, 70, 3, 7}, {2, 65, 2, 600}, {1, 5, 4, 1}, {1, 1, 1, 1}};

template <class T>
void expect_unpacked(const char* chip, data_type_t from, data_type_t to) {
  const bool is_signed = from == DT_INT4;
  for (const dim4& shape : kShapes) {
    TestDevice device(chip);
    fill(device, kSource, 37);
    const LaunchOutcome outcome =
        device.run([&] { tpu_bdc_cast(kResult, kSource, &shape, nullptr, nullptr, to, from, RM_HALF_TO_EVEN); });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for_each_element(shape, [&](int n, int c, int h, int w) {
      int wanted = nibble(device, kSource, shape, n, c, h, w, is_signed);
      if (to == DT_UINT8 || to == DT_UINT16 || to == DT_UINT32) wanted = wanted < 0 ? 0 : wanted;
      ASSERT_EQ(result<T>(device, shape, n, c, h, w), static_cast<T>(wanted)) << n << " " << c << " " << h << " " << w;
    });
  }
}

TEST(PackedIntegers, AreUnpackedToIntegers) {
  for (const char* chip : {"bm1688", "bm1690"}) {
    expect_unpacked<std::uint8_t>(chip, DT_UINT4, DT_UINT8);
    expect_unpacked<std::int8_t>(chip, DT_UINT4, DT_INT8);
    expect_unpacked<std::int8_t>(chip, DT_INT4, DT_INT8);
    expect_unpacked<std::uint8_t>(chip, DT_INT4, DT_UINT8);
    expect_unpacked<std::int16_t>(chip, DT_INT4, DT_INT16);
    expect_unpacked<std::int32_t>(chip, DT_UINT4, DT_INT32);
  }
}

TEST(PackedIntegers, BecomeFloatsOnBm1690) {
  expect_unpacked<float>("bm1690", DT_UINT4, DT_FP32);
  expect_unpacked<float>("bm1690", DT_INT4, DT_FP32);
  // 0b 00 00 03 05 05 0a 07 as recorded.
  constexpr std::uint8_t kBytes[] = {0x0B, 0x30, 0x55, 0x7A};
  constexpr std::uint16_t kHalves[] = {0x4980, 0x0000, 0x0000, 0x4200, 0x4500, 0x4500, 0x4900, 0x4700};
  constexpr std::uint16_t kBrain[] = {0xC0A0, 0x0000, 0x0000, 0x4040, 0x40A0, 0x40A0, 0xC0C0, 0x40E0};
  TestDevice device("bm1690");
  std::memcpy(device.local<std::uint8_t>(0, kSource), kBytes, sizeof(kBytes));
  const dim4 shape{1, 1, 1, 8};
  ASSERT_TRUE(device
                  .run([&] {
                    for (int i = 0; i < 3; ++i)
                      tpu_bdc_cast(kResult, kSource, &shape, nullptr, nullptr, DT_FP16, DT_UINT4, RM_HALF_TO_EVEN);
                    tpu_bdc_cast(kOther, kSource, &shape, nullptr, nullptr, DT_BFP16, DT_INT4, RM_HALF_TO_EVEN);
                  })
                  .ok);
  EXPECT_EQ(std::memcmp(device.local<std::uint8_t>(0, kResult), kHalves, sizeof(kHalves)), 0);
  EXPECT_EQ(std::memcmp(device.local<std::uint8_t>(0, kOther), kBrain, sizeof(kBrain)), 0);
}

TEST(PackedIntegers, ArePackedWithSaturationOnBm1688) {
  const dim4 shape{1, 2, 3, 5};
  for (const data_type_t to : {DT_INT4, DT_UINT4}) {
    TestDevice device("bm1688");
    fill(device, kSource, 37);
    std::memset(device.local<std::uint8_t>(0, kResult), 0xA5, 64);
    ASSERT_TRUE(
        device.run([&] { tpu_bdc_cast(kResult, kSource, &shape, nullptr, nullptr, to, DT_INT8, RM_HALF_TO_EVEN); }).ok);
    for_each_element(shape, [&](int n, int c, int h, int w) {
      const int value = device.local<std::int8_t>(c, kSource)[h * shape.w + w];
      const int low = to == DT_INT4 ? -8 : 0, high = to == DT_INT4 ? 7 : 15;
      ASSERT_EQ(nibble(device, kResult, shape, n, c, h, w, to == DT_INT4), value < low    ? low
                                                                           : value > high ? high
                                                                                          : value);
    });
    EXPECT_EQ(*device.local<std::uint8_t>(0, kResult + 7) >> 4, 0xA);  // behind the fifteenth
    EXPECT_EQ(*device.local<std::uint8_t>(0, kResult + 8), 0xA5);
  }
}

TEST(PackedIntegers, AreAddedSubtractedAndMultipliedOnBm1688) {
  for (const dim4& shape : kShapes) {
    TestDevice device("bm1688");
    fill(device, kSource, 37);
    fill(device, kOther, 101);
    const auto expect = [&](auto function, auto wanted, data_type_t first, data_type_t second, char shift) {
      ASSERT_TRUE(device
                      .run([&] {
                        function(kResult, kSource, kOther, &shape, nullptr, nullptr, nullptr, DT_INT16, first, second,
                                 shift, RM_HALF_TO_EVEN, true);
                      })
                      .ok);
      for_each_element(shape, [&](int n, int c, int h, int w) {
        const int a = nibble(device, kSource, shape, n, c, h, w, first == DT_INT4);
        const int b = nibble(device, kOther, shape, n, c, h, w, second == DT_INT4);
        ASSERT_EQ(result<std::int16_t>(device, shape, n, c, h, w), wanted(a, b) * (1 << shift));
      });
    };
    expect(
        tpu_bdc_int_add, [](int a, int b) { return a + b; }, DT_INT4, DT_INT4, 0);
    expect(
        tpu_bdc_int_sub, [](int a, int b) { return a - b; }, DT_UINT4, DT_UINT4, 1);
    expect(
        tpu_bdc_int_mul, [](int a, int b) { return a * b; }, DT_INT4, DT_UINT4, 3);
  }
}

// Results of bytes have loops of their own where nothing is shifted: they clamp and cut as the plain ones, and their
// rows begin in the middle of a byte where widths are odd.
TEST(PackedIntegers, WithBytesHaveThePlainBits) {
  struct Types {
    data_type_t dst, first, second;
  };
  constexpr Types kTypes[] = {{DT_INT8, DT_INT4, DT_INT8},   {DT_INT16, DT_INT8, DT_UINT4},
                              {DT_INT32, DT_INT4, DT_UINT8}, {DT_INT8, DT_INT4, DT_INT4},
                              {DT_INT8, DT_UINT4, DT_UINT8}, {DT_INT16, DT_UINT4, DT_UINT4}};
  for (const dim4& shape : kShapes) {
    for (const Types& types : kTypes) {
      for (const bool saturate : {false, true}) {
        for (const auto function : {tpu_bdc_int_add, tpu_bdc_int_sub, tpu_bdc_int_mul}) {
          // Of unsigned operands only a difference has a sign.
          const bool has_sign = types.first == DT_INT4 || types.first == DT_INT8 || function == tpu_bdc_int_sub;
          const data_type_t dst = has_sign ? types.dst : types.dst == DT_INT8 ? DT_UINT8 : DT_UINT16;
          std::vector<std::vector<std::uint8_t>> results;
          for (const bool plain : {true, false}) {
            set_plain_kernels(plain);
            TestDevice device("bm1688");
            fill(device, kSource, 37);
            fill(device, kOther, 101);
            fill(device, kResult, 3);
            const LaunchOutcome outcome = device.run([&] {
              function(kResult, kSource, kOther, &shape, nullptr, nullptr, nullptr, dst, types.first, types.second, 0,
                       RM_HALF_TO_EVEN, saturate);
            });
            ASSERT_TRUE(outcome.ok) << outcome.text;
            std::vector<std::uint8_t>& stored = results.emplace_back();
            for (int npu = 0; npu < device.chip().npu_num; ++npu)
              stored.insert(stored.end(), device.local<std::uint8_t>(npu, kResult),
                            device.local<std::uint8_t>(npu, kResult) + 0x4000);
          }
          set_plain_kernels(false);
          ASSERT_EQ(results[0], results[1]) << shape.w << " wide, types " << dst << " " << types.first << " "
                                            << types.second << (saturate ? ", saturated" : "");
        }
      }
    }
  }
}

// What tensors without strides are on the chip, said with strides; and rows of whole bytes with a gap.
TEST(PackedIntegers, TakeStridesOfWholeBytes) {
  TestDevice device("bm1690");
  fill(device, kSource, 37);
  const dim4 shape{1, 3, 2, 5}, gaps{64, 64, 6, 1}, halves{64, 64, 7, 1}, wide{64, 64, 10, 2};
  ASSERT_TRUE(
      device.run([&] { tpu_bdc_cast(kResult, kSource, &shape, nullptr, &gaps, DT_INT8, DT_INT4, RM_DOWN); }).ok);
  for_each_element(shape, [&](int n, int c, int h, int w) {
    const int at = 6 * h + w;
    EXPECT_EQ(result<std::int8_t>(device, shape, n, c, h, w),
              value_of(*device.local<std::uint8_t>(c, kSource + static_cast<std::uint32_t>(at / 2)), at % 2, true));
  });
  device.expect_fault([&] { tpu_bdc_cast(kResult, kSource, &shape, nullptr, &halves, DT_INT8, DT_INT4, RM_DOWN); },
                      "src of 4-bit integers has a stride of half a byte");
  device.expect_fault([&] { tpu_bdc_cast(kResult, kSource, &shape, nullptr, &wide, DT_INT8, DT_INT4, RM_DOWN); },
                      "src of 4-bit integers has a w stride of 2");
}

TEST(PackedIntegers, AreRefusedWhereTheChipDoes) {
  const dim4 shape{1, 2, 1, 8};
  const auto cast = [&](data_type_t to, data_type_t from) {
    return [=] { tpu_bdc_cast(kResult, kSource, &shape, nullptr, nullptr, to, from, RM_HALF_TO_EVEN); };
  };
  const auto add = [&] {
    tpu_bdc_int_add(kResult, kSource, kOther, &shape, nullptr, nullptr, nullptr, DT_INT16, DT_INT4, DT_INT4, 0,
                    RM_HALF_TO_EVEN, true);
  };
  TestDevice older("bm1684x");
  older.expect_fault(cast(DT_UINT8, DT_UINT4), "src type is uint4");
  older.expect_fault(cast(DT_UINT8, DT_UINT4), "does not compute with 4-bit integers");
  older.expect_fault(add, "src0 type is int4");
  for (const char* chip : {"bm1684x", "bm1690"})
    TestDevice(chip).expect_fault([&] { tpu_gdma_cpy_L2L(kResult, kSource, &shape, nullptr, nullptr, DT_UINT4); },
                                  "Copy two 4-bit integers as one uint8: half the width.");
  TestDevice fixed("bm1688");
  fixed.expect_fault(cast(DT_FP16, DT_UINT4), "dst type is fp16");
  fixed.expect_fault(cast(DT_INT4, DT_FP32), "src type is fp32");
  fixed.expect_fault([&] { tpu_bdc_cpy(kResult, kSource, &shape, nullptr, nullptr, DT_INT4); }, "type is int4");
  TestDevice newer("bm1690");
  newer.expect_fault(cast(DT_INT4, DT_INT8), "dst type is int4");
  newer.expect_fault(cast(DT_FP8E4M3, DT_INT4), "dst type is fp8e4m3");
  newer.expect_fault(add, "src0 type is int4");
  newer.expect_fault(add, "tpu_bdc_cast takes 4-bit integers to wider types");
  for (TestDevice* device : {&fixed, &newer})
    device->expect_fault([&] { tpu_bdc_cast(kSource, kSource, &shape, nullptr, nullptr, DT_INT8, DT_INT4, RM_DOWN); },
                         "overlaps dst");
}

}  // namespace
}  // namespace softtpu::packed_test
