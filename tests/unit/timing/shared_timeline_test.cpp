// Several cores on one timeline: what they share, and how they wait for each other.
#include "device/timing/shared_timeline.hpp"

#include <gtest/gtest.h>

#include <array>

namespace softtpu::shared_timeline_test {
namespace {

constexpr double kLaunch = 10;
constexpr int kMessage = 30;

CommandCost work(double start_us, double work_us) {
  CommandCost cost;
  cost.start_us = start_us;
  cost.work_us = work_us;
  return cost;
}
CommandCost from_ddr(double us) {
  CommandCost cost = work(0, us);
  cost.bytes[static_cast<std::size_t>(BytePath::kDdrRead)] = 1000;
  return cost;
}

class SharedTimelineTest : public ::testing::Test {
 protected:
  std::size_t core(double ddr_share = 1) { return timeline_.add_core(0, kLaunch, Basis::kGuess, ddr_share); }
  std::vector<Moment> run() {
    auto ends = timeline_.run();
    EXPECT_TRUE(ends);
    return ends ? *ends : std::vector<Moment>{};
  }
  SharedTimeline timeline_{2, Basis::kFitted};
};

TEST_F(SharedTimelineTest, EnginesOfACoreWorkApartUntilTheyJoin) {
  const auto one = core();
  timeline_.add(one, Queue::kBdc, work(1, 4));
  timeline_.add(one, Queue::kGdma, from_ddr(20));
  timeline_.join(one);
  timeline_.add(one, Queue::kBdc, work(1, 4));
  EXPECT_DOUBLE_EQ(run()[0].us, kLaunch + 20 + 5);
}

TEST_F(SharedTimelineTest, CoresThatFillDdrTakeTwiceAsLong) {
  for (int i = 0; i < 2; ++i) timeline_.add(core(), Queue::kGdma, from_ddr(20));
  const auto ends = run();
  EXPECT_DOUBLE_EQ(ends[0].us, kLaunch + 40);
  EXPECT_DOUBLE_EQ(ends[1].us, kLaunch + 40);
  EXPECT_DOUBLE_EQ(ends[0].spent[static_cast<std::size_t>(Spent::kCores)], 20);
}

TEST_F(SharedTimelineTest, OnlyWhatOverlapsIsSlower) {
  const auto one = core();
  const auto two = core();
  timeline_.add(one, Queue::kGdma, from_ddr(20));
  timeline_.add(two, Queue::kBdc, work(0, 10));
  timeline_.send(two, Queue::kBdc, 1 << 20, 1);  // its own DMA waits for it
  timeline_.wait(two, Queue::kGdma, 1 << 20, 1);
  timeline_.add(two, Queue::kGdma, from_ddr(20));
  const auto ends = run();
  EXPECT_DOUBLE_EQ(ends[0].us, kLaunch + 10 + 20);
  EXPECT_DOUBLE_EQ(ends[1].us, kLaunch + 10 + 20 + 10);
}

TEST_F(SharedTimelineTest, CoresThatLeaveRoomAreNotSlower) {
  for (int i = 0; i < 2; ++i) timeline_.add(core(.5), Queue::kGdma, from_ddr(20));
  EXPECT_DOUBLE_EQ(run()[1].us, kLaunch + 20);
}

TEST_F(SharedTimelineTest, AMessageIsCompleteWhenAllHaveSentIt) {
  const std::array cores = {core(), core()};
  timeline_.add(cores[0], Queue::kBdc, work(0, 5));
  timeline_.add(cores[1], Queue::kBdc, work(0, 30));
  for (const auto each : cores) {
    timeline_.send(each, Queue::kBdc, kMessage, 2);
    timeline_.wait(each, Queue::kBdc, kMessage, 2);
    timeline_.add(each, Queue::kBdc, work(0, 1));
  }
  const auto ends = run();
  EXPECT_DOUBLE_EQ(ends[0].us, kLaunch + 30 + 2 + 1);
  EXPECT_DOUBLE_EQ(ends[1].us, kLaunch + 30 + 2 + 1);
}

TEST_F(SharedTimelineTest, WhatIsNeverSentIsAnError) {
  timeline_.wait(core(), Queue::kBdc, kMessage, 1);
  EXPECT_FALSE(timeline_.run());
}

}  // namespace
}  // namespace softtpu::shared_timeline_test
