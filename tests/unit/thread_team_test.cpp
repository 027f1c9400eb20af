// Every index is worked on once, by whichever thread, also when several threads have commands at the same time.
#include "device/memory/thread_team.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace softtpu::thread_team_test {
namespace {

struct Counts {
  explicit Counts(int count) : times(static_cast<std::size_t>(count)) {}
  static void add(const void* body, int first, int last) {
    auto& counts = *static_cast<Counts*>(const_cast<void*>(body));
    for (int i = first; i < last; ++i) ++counts.times[static_cast<std::size_t>(i)];
  }
  bool is_once_each() const {
    return std::all_of(times.begin(), times.end(), [](const std::atomic<int>& time) { return time == 1; });
  }
  std::vector<std::atomic<int>> times;
};

TEST(ThreadTeam, WorksOnEachIndexOnce) {
  static auto& made = *new std::vector<ThreadTeam*>;  // its threads never end, and nor does it
  for (const int threads : {1, 2, 3, 8}) {
    ThreadTeam& team = *made.emplace_back(new ThreadTeam(threads));
    ASSERT_EQ(team.threads(), threads);
    for (int count = 0; count < 300; ++count) {
      Counts counts(count);
      team.run(count, &counts, Counts::add);
      ASSERT_TRUE(counts.is_once_each()) << threads << " threads, " << count << " indices";
    }
  }
}

// Every second command goes the other way, and takes the same chunks.
TEST(ThreadTeam, TurnsRoundAfterEachCommand) {
  static ThreadTeam& team = *new ThreadTeam(1);
  using Parts = std::vector<std::pair<int, int>>;
  const auto parts_of = [](int count) {
    Parts parts;
    team.run(count, &parts, [](const void* body, int first, int last) {
      static_cast<Parts*>(const_cast<void*>(body))->emplace_back(first, last);
    });
    return parts;
  };
  for (const int count : {1, 48, 1000}) {
    const Parts one_way = parts_of(count);
    Parts other_way = parts_of(count);
    if (count > 1) {
      EXPECT_NE(one_way.front(), other_way.front());
    }
    if (count % 48 == 0) {
      std::reverse(other_way.begin(), other_way.end());
      EXPECT_EQ(one_way, other_way);
    }
    EXPECT_EQ(parts_of(count), one_way);
    parts_of(count);
  }
}

// It used to look for the end all the time, and took the processor from the thread that it waited for.
TEST(ThreadTeam, SleepsWhileAnotherThreadIsNotThrough) {
  static ThreadTeam& team = *new ThreadTeam(2);
  struct Slow {
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> joined{false};
    static void call(const void* body, int, int) {
      auto& slow = *static_cast<Slow*>(const_cast<void*>(body));
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      if (std::this_thread::get_id() != slow.caller) {
        slow.joined = true;
        std::this_thread::sleep_until(end);
      }
      while (!slow.joined && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } slow;
  const auto processor_time = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto before = processor_time();
  team.run(2, &slow, Slow::call);
  if (!slow.joined) GTEST_SKIP() << "the machine was too busy for a second thread";
  EXPECT_LT(processor_time() - before, std::chrono::milliseconds(250));
}

TEST(ThreadTeam, ServesSeveralThreads) {
  static ThreadTeam& team = *new ThreadTeam(4);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        Counts counts(64);
        team.run(64, &counts, Counts::add);
        if (!counts.is_once_each()) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadTeam, TakesACommandWithinACommand) {
  static ThreadTeam& team = *new ThreadTeam(2);
  struct Nested {
    static void outer(const void* body, int first, int last) {
      for (int i = first; i < last; ++i)
        team.run(16, (*static_cast<std::vector<Counts*> const*>(body))[static_cast<std::size_t>(i)], Counts::add);
    }
  };
  std::vector<std::unique_ptr<Counts>> owned;
  std::vector<Counts*> all;
  for (int i = 0; i < 8; ++i) all.push_back(owned.emplace_back(std::make_unique<Counts>(16)).get());
  team.run(8, &all, Nested::outer);
  for (const Counts* counts : all) EXPECT_TRUE(counts->is_once_each());
}

}  // namespace
}  // namespace softtpu::thread_team_test
