#include "device/server/allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace softtpu {
namespace {

constexpr std::uint64_t kStart = 0x105100000;
constexpr std::uint64_t kPage = Allocator::kPageBytes;

TEST(Allocator, StartsAtTheHeapAndGoesByPages) {
  Allocator heap(kStart, kStart + 64 * kPage);
  EXPECT_EQ(heap.find_room(1), kStart);
  EXPECT_EQ(heap.find_room(4097), kStart + kPage);
  EXPECT_EQ(heap.find_room(1), kStart + 3 * kPage);
  EXPECT_EQ(heap.bytes_used(), 4 * kPage);
}

TEST(Allocator, TakesTheSmallestHoleThatSuffices) {
  Allocator heap(kStart, kStart + 64 * kPage);
  const auto a = *heap.find_room(4 * kPage), b = *heap.find_room(kPage), c = *heap.find_room(2 * kPage);
  ASSERT_TRUE(heap.find_room(kPage));
  heap.release(a);
  heap.release(c);
  EXPECT_EQ(heap.find_room(2 * kPage), c);
  EXPECT_EQ(heap.find_room(kPage), a);
  EXPECT_EQ(heap.find_room(3 * kPage), a + kPage);
  EXPECT_EQ(heap.release(b), kPage);
}

TEST(Allocator, MergesFreedNeighbours) {
  Allocator heap(kStart, kStart + 8 * kPage);
  const auto a = *heap.find_room(3 * kPage), b = *heap.find_room(5 * kPage);
  EXPECT_FALSE(heap.find_room(1));
  EXPECT_EQ(heap.largest_hole(), 0U);
  heap.release(a);
  heap.release(b);
  EXPECT_EQ(heap.find_room(8 * kPage), kStart);
}

TEST(Allocator, RefusesWhatDoesNotFitAndWhatIsNotItsOwn) {
  Allocator heap(kStart, kStart + 8 * kPage);
  EXPECT_FALSE(heap.find_room(UINT64_MAX));
  EXPECT_FALSE(heap.find_room(8 * kPage + 1));
  const auto a = *heap.find_room(kPage);
  EXPECT_FALSE(heap.release(a + 1));
  EXPECT_TRUE(heap.release(a));
  EXPECT_FALSE(heap.release(a));
}

TEST(Allocator, NeverOverlapsUnderRandomUse) {
  Allocator heap(kStart, kStart + 256 * kPage);
  std::map<std::uint64_t, std::uint64_t> live;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    if (live.size() > 20 || (random() % 2 == 0 && !live.empty())) {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      ASSERT_EQ(heap.release(victim->first), victim->second);
      live.erase(victim);
      continue;
    }
    const std::uint64_t pages = 1 + random() % 20;
    const auto at = heap.find_room(pages * kPage);
    if (!at) continue;
    const auto next = live.lower_bound(*at);
    ASSERT_TRUE(next == live.end() || *at + pages * kPage <= next->first);
    ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= *at);
    live.emplace(*at, pages * kPage);
  }
}

}  // namespace
}  // namespace softtpu
