// How long the launches of a client wait after its crashes.
#include "device/server/queue/crash_debt.hpp"

#include <gtest/gtest.h>

namespace softtpu::crash_debt_test {
namespace {

using namespace std::chrono_literals;

constexpr CrashDebt::Clock::time_point kStart{1h};

TEST(CrashDebt, WithoutACrashNothingWaits) { EXPECT_EQ(CrashDebt().left(kStart), 0ns); }

TEST(CrashDebt, AClientWaitsAMultipleOfWhatItsCrashHasCost) {
  CrashDebt debt;
  debt.add(kStart, 5ms);
  EXPECT_EQ(debt.left(kStart), CrashDebt::kFactor * 5ms);
  EXPECT_EQ(debt.left(kStart + 100ms), CrashDebt::kFactor * 5ms - 100ms);
  EXPECT_EQ(debt.left(kStart + 1h), 0ns);
}

TEST(CrashDebt, CrashesAddUp) {
  CrashDebt debt;
  debt.add(kStart, 1ms);
  debt.add(kStart + 10ms, 2ms);
  EXPECT_EQ(debt.left(kStart + 10ms), CrashDebt::kFactor * 3ms - 10ms);
  // What has been waited off does not count again.
  debt.add(kStart + 1h, 1ms);
  EXPECT_EQ(debt.left(kStart + 1h), CrashDebt::kFactor * 1ms);
}

TEST(CrashDebt, NoClientWaitsLongerThanTheLimit) {
  CrashDebt debt;
  for (int i = 0; i < 100; ++i) debt.add(kStart, 1s);
  EXPECT_EQ(debt.left(kStart), CrashDebt::kMost);
}

}  // namespace
}  // namespace softtpu::crash_debt_test
