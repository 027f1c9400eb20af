// Items on their way to cores through shared memory.
#include "device/server/queue/core_rings.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace softtpu::core_rings_test {
namespace {

Bytes frame_of(std::uint64_t number, std::size_t payload_bytes) {
  Bytes frame(kFrameHeaderBytes + payload_bytes);
  wire::put_header(frame.data(), payload_bytes, MessageType::kCoreLaunch, 0, number);
  std::iota(frame.begin() + kFrameHeaderBytes, frame.end(), static_cast<std::uint8_t>(number));
  return frame;
}

class CoreMail : public testing::Test {
 protected:
  CoreMail() {
    auto made = CoreRings::create(40);
    EXPECT_TRUE(made);
    room_ = *std::move(made);
    reader_.emplace(room_->box(1), room_->bell(), 1);
  }
  bool put(const Bytes& frame) { return room_->put(1, frame, reader_->taken()) && room_->push(1); }
  // What the reader finds under this number, and takes.
  std::optional<Bytes> take(std::uint64_t number) {
    auto found = reader_->find(number);
    if (!found) return std::nullopt;
    Bytes payload(found->payload.begin(), found->payload.end());
    reader_->take(*found);
    return payload;
  }
  static Bytes payload(const Bytes& frame) { return {frame.begin() + kFrameHeaderBytes, frame.end()}; }

  std::unique_ptr<CoreRings> room_;
  std::optional<RingReader> reader_;
};

TEST_F(CoreMail, BringsItemsOfAnyLengthInTheirOrderAroundTheRingManyTimes) {
  std::minstd_rand random(1);
  std::uint64_t next = 1, last = 0;
  while (last < 20000) {
    while (put(frame_of(last + 1, random() % 1500))) ++last;
    const std::uint64_t up_to = next + random() % (last - next + 1);
    for (; next <= up_to; ++next) {
      const auto found = take(next);
      ASSERT_TRUE(found) << next;
      ASSERT_EQ(*found, payload(frame_of(next, found->size())));
    }
  }
}

TEST_F(CoreMail, FillsItsRingAndNoMore) {
  std::uint64_t last = 0;
  while (put(frame_of(last + 1, 48))) ++last;
  EXPECT_EQ(last, SpscRing::kBytes / 64);
  ASSERT_TRUE(take(1));
  EXPECT_TRUE(put(frame_of(last + 1, 48)));
  EXPECT_FALSE(put(frame_of(last + 2, 48)));
  for (std::uint64_t number = 2; number <= last + 1; ++number) ASSERT_TRUE(take(number)) << number;
  EXPECT_FALSE(reader_->find(last + 2));
}

TEST_F(CoreMail, KeepsAnItemUntilItsTurn) {
  ASSERT_TRUE(put(frame_of(8, 10)));
  EXPECT_FALSE(reader_->find(7));  // on its way through the socket
  EXPECT_FALSE(reader_->has_news(7, 0));
  room_->note_by_socket(1);
  EXPECT_TRUE(reader_->has_news(7, 0));
  EXPECT_TRUE(reader_->has_more_in_socket(0));
  EXPECT_FALSE(reader_->has_more_in_socket(1));
  EXPECT_TRUE(reader_->find(8));
}

TEST_F(CoreMail, ShowsNothingBeforeItIsHandedOver) {
  ASSERT_TRUE(room_->put(1, frame_of(1, 10), 0));
  EXPECT_FALSE(reader_->find(1));
  EXPECT_TRUE(room_->push(1));
  EXPECT_TRUE(reader_->find(1));
  EXPECT_FALSE(room_->push(1));
}

TEST_F(CoreMail, RefusesLongItemsAndCountsThatCannotBe) {
  EXPECT_FALSE(put(frame_of(1, SpscRing::kBytes / 2)));
  EXPECT_FALSE(room_->put(1, frame_of(1, 10), 8));  // as if the core had read what was never sent
  EXPECT_TRUE(room_->put(1, frame_of(1, 10), 0));
}

TEST_F(CoreMail, IsEmptyForACoreThatBegins) {
  ASSERT_TRUE(put(frame_of(1, 10)));
  room_->empty(1);
  RingReader next(room_->box(1), room_->bell(), 1);
  EXPECT_FALSE(next.find(1));
  ASSERT_TRUE(room_->put(1, frame_of(5, 10), 0));
  room_->push(1);
  EXPECT_TRUE(next.find(5));
}

// Forty cores share 32 bits: a core without items sleeps on, one with items wakes.
TEST_F(CoreMail, WakesAllCoresThatHaveSomethingAtOnce) {
  std::vector<std::thread> cores;
  for (const int core : {0, 1, 31, 39}) {
    cores.emplace_back([this, core] {
      const RingReader reader(room_->box(core), room_->bell(), core);
      for (std::uint32_t rung = reader.rung(); !reader.has_news(1, 0); rung = reader.rung()) reader.sleep(rung);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (const int core : {0, 1, 31, 39}) {
    ASSERT_TRUE(room_->put(core, frame_of(1, 10), 0));
    room_->push(core);
  }
  room_->ring();
  for (std::thread& core : cores) core.join();
}

}  // namespace
}  // namespace softtpu::core_rings_test
