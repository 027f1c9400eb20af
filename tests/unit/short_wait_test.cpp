// When a thread looks for what is about to happen, and when it leaves that out.
#include "runtime/transport/short_wait.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace softtpu {
namespace {

using std::chrono::microseconds;

TEST(ShortWait, SaysWhetherItFoundWhatItLookedFor) {
  ShortWait wait{microseconds(100)};
  int asked = 0;
  EXPECT_TRUE(wait.look(ShortWait::Other::kElsewhere, [&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(wait.look(ShortWait::Other::kElsewhere, [] { return false; }));
  EXPECT_FALSE(wait.look(ShortWait::Other::kHere, [] { return false; }));
}

TEST(ShortWait, AsksOnceMoreAtTheEnd) {
  ShortWait none{microseconds(0)};
  EXPECT_TRUE(none.look(ShortWait::Other::kElsewhere, [] { return true; }));
}

TEST(ShortWait, LeavesOutMoreAndMoreLooksThatDoNotPay) {
  ShortWait wait{microseconds(1)};
  int looks = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!wait.is_worth_it()) continue;
    ++looks;
    wait.look(ShortWait::Other::kElsewhere, [] { return false; });
  }
  EXPECT_GE(looks, 1000 / 65);
  EXPECT_LE(looks, 25);
}

TEST(ShortWait, ComesBackWhenLooksPay) {
  ShortWait wait{std::chrono::seconds(5)};
  wait.look(ShortWait::Other::kElsewhere, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // somebody else had the processor
    return true;
  });
  EXPECT_FALSE(wait.is_worth_it());
  EXPECT_TRUE(wait.is_worth_it());
  wait.look(ShortWait::Other::kHere, [] { return true; });
  EXPECT_TRUE(wait.is_worth_it());
}

}  // namespace
}  // namespace softtpu
