// The chip's own compressed form: groups by hand, the way back for every type, bias and guard, sizes, damaged codes.
#include "device/engines/dma/compress/group_code.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::group_code_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes head(const Bytes& bytes, std::size_t count) { return {bytes.begin(), bytes.begin() + static_cast<long>(count)}; }

GroupCode encoded(const Bytes& elements, Dtype type, PackingRule rule = {}) {
  return encode_groups(elements.data(), static_cast<std::int64_t>(elements.size()) / size_of(type), {type, rule});
}

TEST(GroupCode, IsRemaindersThenQuotients) {
  // One remainder bit, sum of the quotients 12 (recorded: new_compress/normal/u8/053).
  const Bytes small{3, 3, 2, 1, 2, 2, 3, 0, 2, 3, 0, 2, 0, 3, 3, 2};
  const GroupCode code = encoded(small, Dtype::kUint8);
  EXPECT_EQ(code.map, (Bytes{0x2C, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(head(code.codes, 6), (Bytes{0x4B, 0x62, 0x6A, 0xB5, 0xB6, 0x0A}));
  EXPECT_EQ(code.codes.size(), 16U);
  // What is too large stays as it is. Three elements more make a second group, filled up with zeros: each has a
  // quotient of 6 beside five remainder bits.
  Bytes large(19, 200);
  const GroupCode plain = encoded(large, Dtype::kUint8);
  EXPECT_EQ(head(plain.map, 3), (Bytes{0xE0, 0xB2, 0}));
  EXPECT_EQ(head(plain.codes, 16), Bytes(16, 200));
  EXPECT_EQ(plain.codes.size(), 32U);
}

TEST(GroupCode, NumbersOfEitherSignTakeTurnsAndAreMovedByTheirBias) {
  const auto stored = [](std::int8_t value, PackingRule rule) {
    Bytes group(16, 0x80);  // large beside any bias here: the group is stored as it is
    group[0] = static_cast<std::uint8_t>(value);
    return encoded(group, Dtype::kInt8, rule).codes[0];
  };
  EXPECT_EQ(stored(0x25, {}), 0x4A);
  EXPECT_EQ(stored(-127, {}), 0xFD);
  EXPECT_EQ(stored(0, {5, 9, false}), 0);
  EXPECT_EQ(stored(4, {3, 0, true}), 2);
  EXPECT_EQ(stored(3, {3, 0, true}), 254);
  EXPECT_EQ(stored(1, {5, 9, false}), 246);
  EXPECT_EQ(stored(-10, {5, 9, false}), 1);
}

TEST(GroupCode, FloatsKeepNothingBesideAZeroExponent) {
  // Six numbers and ten zeros: five remainder bits, the count of zeros, quotients, then six bytes
  // (recorded: new_compress/racu/bf16/039).
  const std::uint16_t values[16] = {0x401F, 0x4004, 0x4006, 0x3F60, 0x3FCC, 0x3F2D};
  Bytes elements(sizeof(values));
  std::memcpy(elements.data(), values, sizeof(values));
  const GroupCode code = encoded(elements, Dtype::kBfp16);
  EXPECT_EQ(code.map[0], 0xB5);
  EXPECT_EQ(head(code.codes, 12), (Bytes{0x10, 0, 0x38, 0, 0x38, 0, 0x38, 0, 0x38, 0, 0x0A, 0x21}));
  // A bias moves what is there, not what fills the group up (recorded: m_c/gdma_compress_RACU_L2S/000 of BM1688).
  const GroupCode biased = encoded(Bytes(elements.begin(), elements.begin() + 12), Dtype::kBfp16, {32, 9, false});
  EXPECT_EQ(biased.map[0], code.map[0]);
  EXPECT_EQ(biased.codes, code.codes);
  // Upper bytes of 6, 12 and 34 around 16 (recorded: m_c/gdma_compress_normal_L2S/000 of BM1688).
  const auto symbol = [](unsigned byte) {
    Bytes group(32, 0x55);  // too large for any remainder: the group is stored as it is
    const auto bits = static_cast<std::uint16_t>(byte << 7);
    std::memcpy(group.data(), &bits, sizeof(bits));
    return encoded(group, Dtype::kBfp16, {16, 33, false}).codes[0];
  };
  EXPECT_EQ(symbol(6), 0x14);
  EXPECT_EQ(symbol(12), 0x08);
  EXPECT_EQ(symbol(34), 34);
  // A subnormal fp16 is a zero under the guard.
  const auto back = [](std::uint16_t value, bool guard) {
    std::uint16_t group[16] = {value}, copy[16] = {};
    Bytes bytes(sizeof(group));
    std::memcpy(bytes.data(), group, sizeof(group));
    const GroupFormat format{Dtype::kFp16, {0, 0, guard}};
    const GroupCode one = encode_groups(bytes.data(), 16, format);
    const auto room = static_cast<std::int64_t>(one.codes.size());
    EXPECT_EQ(decode_groups(one.map.data(), one.codes.data(), room, 16, format, reinterpret_cast<std::uint8_t*>(copy)),
              room);
    return copy[0];
  };
  EXPECT_EQ(back(0x81F3, false), 0x81F3);
  EXPECT_EQ(back(0x81F3, true), 0);
  EXPECT_EQ(back(0x007F, false), 0x007F);
  EXPECT_EQ(back(0x0401, true), 0x0401);
}

// Each group has its number of zero symbols beside the map's byte, what fills the last one up counted (recorded:
// new_compress/normal/f16/029 of BM1684X2).
TEST(GroupCode, CountsZerosInTheMapWhereTheChipDoes) {
  Bytes elements(2 * 24, 0x5D);
  const GroupFormat format{Dtype::kFp16, {0, 0, true}, true};
  const GroupCode code = encode_groups(elements.data(), 24, format);
  EXPECT_EQ(head(code.map, 5), (Bytes{0xE0, 0, 0xE0, 8, 0}));
  EXPECT_EQ(code.codes.size(), 64U);
  std::fill(elements.begin(), elements.end(), std::uint8_t{0});
  const GroupCode zeros = encode_groups(elements.data(), 24, format);
  EXPECT_EQ(head(zeros.map, 4), (Bytes{0, 16, 0, 16}));
  Bytes copy(elements.size(), 1);
  ASSERT_EQ(decode_groups(zeros.map.data(), zeros.codes.data(), 16, 24, format, copy.data()), 16);
  EXPECT_EQ(copy, elements);
}

TEST(GroupCode, ComesBackForEveryTypeBiasAndGuard) {
  std::mt19937 draw(20261123U);
  for (const Dtype type : {Dtype::kInt8, Dtype::kUint8, Dtype::kInt16, Dtype::kUint16, Dtype::kFp16, Dtype::kBfp16}) {
    for (int round = 0; round < 200; ++round) {
      const auto count = static_cast<std::int64_t>(draw() % 70 + 1);
      const PackingRule rule{static_cast<std::uint8_t>(draw()), static_cast<std::uint8_t>(draw()),
                             type != Dtype::kFp16 && round % 2 == 0};
      const unsigned spread = 1U << draw() % 9U;
      Bytes elements(static_cast<std::size_t>(count * size_of(type)));
      for (std::uint8_t& byte : elements) byte = static_cast<std::uint8_t>(draw() % spread - spread / 3);
      if (type == Dtype::kFp16 || type == Dtype::kBfp16) {
        for (std::size_t i = 1; i < elements.size(); i += 2) elements[i] |= 1;  // no subnormal numbers
      }
      const GroupFormat format{type, rule};
      const GroupCode code = encode_groups(elements.data(), count, format);
      ASSERT_LE(code.map.size() + code.codes.size(), static_cast<std::size_t>(max_group_bytes(count, size_of(type))));
      Bytes copy(elements.size());
      const auto room = static_cast<std::int64_t>(code.codes.size());
      ASSERT_EQ(decode_groups(code.map.data(), code.codes.data(), room, count, format, copy.data()), room);
      ASSERT_EQ(copy, elements) << to_text(type);
      // Maps of other codes are no codes.
      Bytes wrong = code.map;
      wrong[0] = 0xC0;
      ASSERT_FALSE(decode_groups(wrong.data(), code.codes.data(), room, count, format, copy.data()));
    }
  }
}

// Zeros of fp16, coded with the guard and read without it (recorded: m_a/gdma_decompress_RACU_S2L/002 of BM1688): each
// element takes a byte more than there is, and behind the codes there are zeros, in which no symbol ends.
TEST(GroupCode, BehindTheCodesAreZeros) {
  const Bytes zeros(2 * 64);
  const GroupCode code = encoded(zeros, Dtype::kFp16, {0, 0, true});
  EXPECT_EQ(head(code.codes, 9), (Bytes{255, 255, 255, 255, 255, 255, 255, 255, 0}));
  std::uint16_t copy[64] = {};
  const GroupFormat format{Dtype::kFp16, {}};
  ASSERT_TRUE(decode_groups(code.map.data(), code.codes.data(), 16, 64, format, reinterpret_cast<std::uint8_t*>(copy)));
  EXPECT_EQ(copy[0], 0x807F);
  EXPECT_EQ(copy[5], 0x807F);
  EXPECT_EQ(copy[6], 0);
  for (const int group : {16, 32, 48}) {
    EXPECT_EQ(copy[group], 0);
    EXPECT_EQ(copy[group + 1], 0x7F80);
    EXPECT_EQ(copy[group + 15], 0x7F80);
  }
  // Some symbols of a group that end and some that do not: not recorded.
  const std::uint8_t map[16] = {1}, codes[16] = {0xFF};
  Bytes bytes(16);
  EXPECT_FALSE(decode_groups(map, codes, 16, 16, {Dtype::kUint8, {}}, bytes.data()));
}

// Units of BM1688: a group of 32 channels, one row; rows of a group follow each other, and the meta says by how much
// they lie before their slots.
TEST(GroupCode, UnitsOfAGroupFollowEachOther) {
  TestDevice device("bm1688");
  const dim4 shape{2, 35, 2, 16};
  constexpr local_addr_t kSrc = 0x4000, kDst = 0x8000;
  const std::uint64_t packed = device.scratch(), meta = packed + 0x8000;
  for (int npu = 0; npu < 32; ++npu) {
    for (int i = 0; i < 0x4000; ++i)
      device.local<std::uint8_t>(npu, kSrc)[i] = static_cast<std::uint8_t>((i + npu) % 3);
  }
  dim4 slots{}, lengths{};
  int most = 0, most_meta = 0;
  const LaunchOutcome outcome = device.run([&] {
    tpu_gdma_compress_RACU_L2S(packed, meta, kSrc, &shape, nullptr, nullptr, nullptr, DT_UINT8, 0, 0, false);
    tpu_gdma_decompress_RACU_S2L(kDst, packed, meta, &shape, nullptr, nullptr, nullptr, DT_UINT8, 0, 0, false);
    slots = tpu_gdma_compress_RACU_racu_stride(&shape, DT_UINT8, false);
    lengths = tpu_gdma_compress_RACU_meta_stride(&shape, DT_UINT8);
    most = tpu_gdma_compress_RACU_max_racu_bytes(&shape, DT_UINT8, false);
    most_meta = tpu_gdma_compress_RACU_max_meta_bytes(&shape, DT_UINT8);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  constexpr int kSlot = 32 + 32 * 16;  // a map of 32 groups, and their bytes
  EXPECT_EQ(slots.n, 2 * 2 * kSlot);
  EXPECT_EQ(slots.c, 2 * kSlot);
  EXPECT_EQ(lengths.n, 4);
  EXPECT_EQ(lengths.c, 2);
  EXPECT_EQ(most, 2 * 2 * 2 * kSlot);
  EXPECT_EQ(most_meta, 2 * 2 * 2 * 4);
  std::uint32_t words[8] = {};
  std::memcpy(words, device.global<std::uint8_t>(meta), sizeof(words));
  for (int unit = 0; unit < 8; unit += 2) {
    const int taken = 16 * static_cast<int>(words[unit]) + (unit % 4 == 0 ? 32 : 16);
    EXPECT_EQ(words[unit] >> 12, 0U);
    EXPECT_EQ(words[unit + 1] >> 12, static_cast<unsigned>(kSlot - taken) / 16);
  }
  for (int npu = 0; npu < 32; ++npu) {
    const int rows = npu < 3 ? 4 : 2;  // of 32 bytes: two rows of channels, twice
    for (int row = 0; row < 4; ++row) {
      if (rows == 2 && row % 2 == 1) continue;
      EXPECT_EQ(0, std::memcmp(device.local<std::uint8_t>(npu, kDst) + 32 * row,
                               device.local<std::uint8_t>(npu, kSrc) + 32 * row, 32))
          << npu << ' ' << row;
    }
  }
}

TEST(GroupCode, SizesOfBm1690AreMultiplesOf128) {
  TestDevice device("bm1690");
  int answers[4] = {};
  const LaunchOutcome outcome = device.run([&] {
    const dim4 many{3, 64, 1, 100}, odd{1, 70, 3, 33}, few{2, 3, 4, 5};
    answers[0] = tpu_gdma_compress_normal_max_bytes(&many, DT_INT16, true);
    answers[1] = tpu_gdma_compress_normal_max_bytes(&odd, DT_BFP16, false);
    answers[2] = tpu_gdma_compress_RACU_max_racu_bytes(&few, DT_INT16, false);
    answers[3] = tpu_gdma_compress_RACU_max_racu_bytes(&many, DT_BFP16, true);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  EXPECT_EQ(answers[0], 39680);
  EXPECT_EQ(answers[1], 14848);
  EXPECT_EQ(answers[2], 6144);
  EXPECT_EQ(answers[3], 41088);
}

}  // namespace
}  // namespace softtpu::group_code_test
