// When a thread looks for what is about to happen, and when it leaves that out.
#include "runtime/transport/short_wait.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace softtpu {
namespace {

using std::chrono::microseconds;

TEST(ShortWait, SaysWhetherItFoundWhatItLookedFor) {
  ShortWait patient{std::chrono::seconds(60)};
  int asked = 0;
  EXPECT_TRUE(patient.look([&] { return ++asked == 3; }));
  EXPECT_EQ(asked, 3);
  ShortWait hasty{microseconds(100)};
  EXPECT_FALSE(hasty.look([] { return false; }));
}

TEST(ShortWait, AsksOnceMoreAtTheEnd) {
  ShortWait none{microseconds(0)};
  EXPECT_TRUE(none.look([] { return true; }));
}

TEST(ShortWait, LeavesOutMoreAndMoreLooksThatDoNotPay) {
  ShortWait wait{microseconds(1)};
  int looks = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!wait.is_worth_it()) continue;
    ++looks;
    wait.look([] { return false; });
  }
  EXPECT_GE(looks, 1000 / 65);
  EXPECT_LE(looks, 25);
}

TEST(ShortWait, ComesBackWhenLooksPay) {
  ShortWait wait{std::chrono::milliseconds(500)};
  wait.look([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(550));  // somebody else had the processor
    return true;
  });
  EXPECT_FALSE(wait.is_worth_it());
  EXPECT_TRUE(wait.is_worth_it());
  wait.look([] { return true; });
  EXPECT_TRUE(wait.is_worth_it());
}

}  // namespace
}  // namespace softtpu
