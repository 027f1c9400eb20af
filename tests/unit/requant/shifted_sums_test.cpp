// Shifted sums: SIMD loops against the plain one, with every rounding mode, shift and range.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "device/engines/bdc/requant/shifted_sums.hpp"
#include "device/memory/kernel_choice.hpp"

namespace softtpu::shifted_sums_test {
namespace {

// Sums where roundings and saturations are decided: limits, ties, and their neighbours.
std::uint32_t sum_like(std::mt19937& random, int shift) {
  const auto any = static_cast<std::uint32_t>(random());
  const auto near = static_cast<std::uint32_t>(random() % 3) - 1;
  switch (random() % 4) {
    case 0: return any;
    case 1: return (any & 0xFFFU) - 2048U;
    case 2: return near + (0x80000000U >> (any % 32));
    default: return (((any & 0x1FFU) - 256U) << (shift > 0 ? shift - 1 : 0)) + near;
  }
}

template <class T>
void compare(std::uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int bits = 8 * static_cast<int>(sizeof(T));
  for (int i = 0; i < 3000; ++i) {
    const int right = between(0, 31), shift = between(0, 9) == 0 ? between(1, 31) : -right;
    const bool is_signed = between(0, 1) == 1, signed_result = between(0, 1) == 1;
    const std::int64_t span = std::int64_t{1} << bits;
    std::int64_t low = signed_result ? -span / 2 : 0, high = signed_result ? span / 2 - 1 : span - 1;
    if (between(0, 3) == 0) low = std::max<std::int64_t>(low, 0);
    if (between(0, 3) == 0 && low < 0) low = -high;
    SumShift rule{is_signed, {shift, static_cast<Rounding>(between(0, 6))}, low, high};
    if (between(0, 3) == 0) rule.floor = 0;
    const int offset = between(0, 3);
    if (offset == 0) rule.offset = static_cast<std::int32_t>(random());
    if (offset == 1) rule.offset = between(-300, 300);
    // Sums that are only limited.
    if (between(0, 7) == 0) {
      rule.shift = {0, static_cast<Rounding>(between(0, 6))};
      rule.offset = 0;
    }
    // Signed sums alone are multiplied, and a product that takes all 64 bits is not shifted to the left.
    const bool multiplied = is_signed && between(0, 1) == 1;
    if (multiplied) {
      rule.multiplier = static_cast<std::int32_t>(sum_like(random, right));
      rule.shift = {-between(0, Shifter<std::int64_t>::kMaxRight), static_cast<Rounding>(between(0, 6))};
    }
    const int count = between(1, 70);
    std::vector<std::uint32_t> sums(static_cast<std::size_t>(count));
    std::vector<std::int64_t> addends(sums.size());
    const std::uint32_t start = between(0, 1) == 1 ? 0 : static_cast<std::uint32_t>(random());
    for (std::uint32_t& sum : sums) sum = sum_like(random, right);
    // Sums whose products are shifted to a limit of the results, and their neighbours.
    if (multiplied && rule.multiplier != 0 && between(0, 1) == 1) {
      const int places = std::min(rule.shift.steps().right, 40);
      for (std::uint32_t& sum : sums) {
        const std::int64_t limit = (between(0, 1) == 1 ? low : high) - rule.offset + between(-1, 1);
        sum = static_cast<std::uint32_t>((limit << places) / rule.multiplier + between(-1, 1)) - start;
      }
    }
    for (std::int64_t& addend : addends)
      addend = std::int64_t{between(-32768, 65535)} * (std::int64_t{1} << between(0, 31));
    // Nor is a sum with an addend: together they may take more than 64 bits.
    const std::int64_t* added = multiplied || shift > 0 || between(0, 1) == 1 ? nullptr : addends.data();
    std::vector<T> want(sums.size() + 1, T(0x5A)), got = want;
    plain_shift_sums(sizeof(T))(rule, sums.data(), start, added, count, want.data());
    fast_shift_sums(sizeof(T))(rule, sums.data(), start, added, count, got.data());
    ASSERT_EQ(want, got) << "shift " << shift << ", signed " << is_signed << ", range " << low << ".." << high
                         << ", addends " << (added != nullptr) << ", multiplier " << rule.multiplier << ", offset "
                         << rule.offset << ", bits " << bits;
    // Results may lie where the sums are.
    if constexpr (sizeof(T) == 4) {
      fast_shift_sums(sizeof(T))(rule, sums.data(), start, added, count, sums.data());
      want.pop_back();
      ASSERT_EQ(want, sums);
    }
  }
}

class ShiftedSums : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!set_simd_limit(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  }
  void TearDown() override { set_simd_limit(""); }
};

TEST_P(ShiftedSums, SimdLoopsAreThePlainLoop) {
  compare<std::uint8_t>(1);
  compare<std::uint16_t>(2);
  compare<std::uint32_t>(3);
}

INSTANTIATE_TEST_SUITE_P(Targets, ShiftedSums, ::testing::Values("sse4", "avx2", "avx512", "neon"),
                         [](const auto& target) { return std::string(target.param); });

// The plain rule itself, by hand.
TEST(ShiftedSum, RoundsAndSaturates) {
  const SumShift up{true, {-1, Rounding::kHalfUp}, -128, 127};
  EXPECT_EQ(up(3, 0), 2);
  EXPECT_EQ(up(static_cast<std::uint32_t>(-3), 0), -1);
  EXPECT_EQ(up(1000, 0), 127);
  EXPECT_EQ(up(1000, -1000), 0);
  EXPECT_EQ(up(0x80000000U, 0), -128);
  SumShift requantised{true, {-4, Rounding::kHalfUp}, -128, 127};
  requantised.multiplier = 3;
  requantised.offset = -5;
  EXPECT_EQ(requantised(40, 0), 3);                                 // 120 / 16 + 0.5 = 8, - 5
  EXPECT_EQ(requantised(static_cast<std::uint32_t>(-40), 0), -12);  // -120 / 16 + 0.5 = -7, - 5
  requantised.floor = 0;
  EXPECT_EQ(requantised(static_cast<std::uint32_t>(-40), 0), -5);
  const SumShift is_unsigned{false, {-31, Rounding::kHalfUp}, 0, 255};
  EXPECT_EQ(is_unsigned(0x80000000U, 0), 1);
  EXPECT_EQ(is_unsigned(0xFFFFFFFFU, 0), 2);
}

}  // namespace
}  // namespace softtpu::shifted_sums_test
