// When a thread looks for what is about to happen, and when it leaves that out.
#include "runtime/transport/adaptive_spin.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace softtpu::adaptive_spin_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(AdaptiveSpin, SaysWhetherItFoundWhatItLookedFor) {
  AdaptiveSpin patient{std::chrono::seconds(60)};
  int asked = 0;
  EXPECT_TRUE(patient.look([&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  AdaptiveSpin hasty{microseconds(100)};
  EXPECT_FALSE(hasty.look([] { return false; }));
}

TEST(AdaptiveSpin, AsksOnceMoreAtTheEnd) {
  AdaptiveSpin none{microseconds(0)};
  EXPECT_TRUE(none.look([] { return true; }));
}

constexpr microseconds kNothingCame{51};
const auto kNow = AdaptiveSpin::Clock::time_point() + std::chrono::hours(1);

TEST(AdaptiveSpin, LeavesOutMoreAndMoreLooksThatDoNotPay) {
  AdaptiveSpin wait;
  int looks = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!wait.is_worth_it(kNow)) continue;
    ++looks;
    wait.note(false, kNothingCame, kNow);
  }
  EXPECT_GE(looks, 1000 / 65);
  EXPECT_LE(looks, 25);
}

TEST(AdaptiveSpin, ComesBackWhenLooksPay) {
  AdaptiveSpin wait;
  wait.note(false, kNothingCame, kNow);
  EXPECT_FALSE(wait.is_worth_it(kNow));
  EXPECT_TRUE(wait.is_worth_it(kNow));
  wait.note(true, microseconds(5), kNow);
  EXPECT_TRUE(wait.is_worth_it(kNow));
}

// Beside ten busy processes, each look gave all of them a turn: 36 milliseconds for a launch of 20 microseconds.
TEST(AdaptiveSpin, RestsWhenOthersTakeTheProcessor) {
  AdaptiveSpin wait;
  wait.note(true, milliseconds(36), kNow);
  EXPECT_FALSE(wait.is_worth_it(kNow + milliseconds(1000)));
  EXPECT_TRUE(wait.is_worth_it(kNow + milliseconds(2500)));
}

TEST(SpinBudget, SpendsAFiftiethOfTheTimeAtMost) {
  SpinBudget credit;
  const milliseconds turn{36};
  AdaptiveSpin::Clock::duration lost{};
  auto now = kNow;
  for (const auto end = now + std::chrono::minutes(10); now < end; now += milliseconds(1)) {
    if (!credit.allows_spin(now)) continue;
    now += turn;
    lost += turn;
    credit.lose(turn, now);
  }
  EXPECT_GT(lost, turn);
  EXPECT_LT(lost * 50, std::chrono::minutes(10));
}

TEST(SpinBudget, OutlivesAnInterruptionAmongManyLooksThatPay) {
  SpinBudget credit;
  for (int i = 0; i < 10; ++i) {
    for (int look = 0; look < 200; ++look) credit.earn();
    credit.lose(milliseconds(4), kNow);
    EXPECT_TRUE(credit.allows_spin(kNow));
  }
  credit.lose(milliseconds(4), kNow);
  EXPECT_FALSE(credit.allows_spin(kNow));
}

TEST(SpinBudget, LooksAgainWithinSecondsOfAnyPause) {
  SpinBudget credit;
  credit.lose(std::chrono::hours(24 * 365), kNow);  // the process was stopped
  EXPECT_TRUE(credit.allows_spin(kNow + std::chrono::seconds(11)));
}

}  // namespace
}  // namespace softtpu::adaptive_spin_test
