#include "device/server/session/allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

namespace softtpu::allocator_test {
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

// Best fit, computed by looking at every hole.
std::optional<std::uint64_t> best_place(const std::map<std::uint64_t, std::uint64_t>& live, std::uint64_t need,
                                        std::uint64_t end) {
  std::uint64_t at = kStart, best = 0, best_bytes = UINT64_MAX;
  for (const auto& [address, bytes] : live) {
    if (address - at >= need && address - at < best_bytes) {
      best = at;
      best_bytes = address - at;
    }
    at = address + bytes;
  }
  if (best_bytes != UINT64_MAX) return best;
  return end - at >= need ? std::optional(at) : std::nullopt;
}

TEST(Allocator, ChoosesAsALookAtEveryHoleDoes) {
  constexpr std::uint64_t kEnd = kStart + 300 * kPage;
  Allocator heap(kStart, kEnd);
  std::map<std::uint64_t, std::uint64_t> live;
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) {
    const auto kind = random() % 8;
    if (kind < 3 && !live.empty()) {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      ASSERT_EQ(heap.release(victim->first), victim->second);
      live.erase(victim);
    } else if (kind == 3) {
      const std::uint64_t at = kStart + random() % 320 * kPage, bytes = (1 + random() % 9) * kPage;
      if (heap.take(at, bytes)) live.emplace(at, bytes);
    } else {
      const std::uint64_t bytes = (1 + random() % 20) * kPage;
      const auto expected = best_place(live, bytes, kEnd);
      ASSERT_EQ(heap.find_room(bytes), expected);
      if (expected) live.emplace(*expected, bytes);
    }
    std::uint64_t largest = 0, at = kStart, used = 0;
    for (const auto& [address, bytes] : live) {
      largest = std::max(largest, address - at);
      at = address + bytes;
      used += bytes;
    }
    ASSERT_EQ(heap.largest_hole(), std::max(largest, kEnd - at));
    ASSERT_EQ(heap.bytes_used(), used);
  }
}

}  // namespace
}  // namespace softtpu::allocator_test
