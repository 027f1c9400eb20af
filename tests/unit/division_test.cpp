// Divisions by shifts give what / and % give, for sizes that are powers of two and others.
#include "runtime/base/division.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/layout/formulas.hpp"

namespace softtpu::division_test {
namespace {

constexpr std::uint64_t kValues[] = {0, 1, 2, 3, 63, 64, 65, 1023, 262143, 262144, 0xFFFFFFFF, 0x123456789ABC};

TEST(Division, EqualsThatOfTheLanguage) {
  for (const std::uint64_t a : kValues) {
    for (const std::uint32_t b : {1U, 2U, 3U, 16U, 60U, 64U, 1000U, 262144U, 0x80000000U}) {
      EXPECT_EQ(quotient(a, b), a / b) << a << " / " << b;
      EXPECT_EQ(remainder(a, b), a % b) << a << " % " << b;
    }
    for (const int b : {1, 5, 64}) {
      const auto value = static_cast<std::int64_t>(a);
      EXPECT_EQ(quotient(value, b), value / b);
      EXPECT_EQ(remainder(value, b), value % b);
    }
  }
}

TEST(Division, OfNegativeSizesThatAreRefusedLaterCutsTowardsZero) {
  for (const std::int64_t a : {-1000000, -64, -1, 0, 1, 64, 1000000}) {
    for (const std::int64_t b : {1, 3, 64}) EXPECT_EQ(ceil_div(a, b), (a + b - 1) / b) << a << ", " << b;
  }
}

}  // namespace
}  // namespace softtpu::division_test
