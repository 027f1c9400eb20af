// What checks know about memory: allocations, written bytes, symbols of modules.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/checks/allocations.hpp"
#include "device/checks/module_check.hpp"
#include "device/checks/shadow.hpp"
#include "runtime/module/module_symbols.hpp"

namespace softtpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(AllocationTable, KnowsLiveAndFreedAllocationsOfAnAddress) {
  const auto table = AllocationTable::create();
  ASSERT_TRUE(table);
  (*table)->add({0x1000, 100, 1});
  (*table)->locate(0x1000, {"main.c:5 (main)"});
  (*table)->add({0x2000, 50, 1});
  (*table)->free(0x2000, {"main.c:9 (main)"});
  const auto known = (*table)->read();
  EXPECT_TRUE(known.complete());
  ASSERT_NE(known.find(0x1063), nullptr);
  EXPECT_THAT(known.find(0x1063)->allocated_at(), ElementsAre("main.c:5 (main)"));
  EXPECT_EQ(known.find(0x1064), nullptr);
  EXPECT_EQ(known.find(0xFFF), nullptr);
  EXPECT_EQ(known.before(0x5000)->address, 0x1000U);
  EXPECT_EQ(known.find(0x2000), nullptr);
  ASSERT_NE(known.find_freed(0x2031), nullptr);
  EXPECT_THAT(known.find_freed(0x2031)->freed_at(), ElementsAre("main.c:9 (main)"));
}

TEST(AllocationTable, ReusesTheOldestFreedPlaceAndSaysWhenItIsFull) {
  const auto made = AllocationTable::create();
  ASSERT_TRUE(made);
  AllocationTable& table = **made;
  for (std::uint64_t i = 1; i <= AllocationTable::kEntries; ++i) table.add({i * 16, 16, 1});
  table.free(32, {});
  table.add({1ULL << 40, 16, 1});
  auto known = table.read();
  EXPECT_TRUE(known.complete());
  EXPECT_THAT(known.live(), SizeIs(AllocationTable::kEntries));
  EXPECT_EQ(known.find_freed(32), nullptr);
  table.add({1ULL << 41, 16, 1});
  known = table.read();
  EXPECT_FALSE(known.complete());
}

TEST(AllocationTable, IsReadOnWhereItHasChanged) {
  const auto made = AllocationTable::create();
  ASSERT_TRUE(made);
  AllocationTable& table = **made;
  table.add({0x1000, 100, 1});
  KnownAllocations known = table.read();
  table.free(0x1000, {"first.c:1 (main)"});
  table.add({0x1010, 50, 2});
  table.set_type(0x1010, "fp16");
  table.update(known);
  EXPECT_EQ(known.find(0x1000), nullptr);
  ASSERT_NE(known.find(0x1010), nullptr);
  EXPECT_EQ(known.find(0x1010)->type, "fp16");
  table.free(0x1010, {"second.c:1 (main)"});
  table.update(known);
  EXPECT_THAT(known.live(), IsEmpty());
  ASSERT_NE(known.find_freed(0x1010), nullptr);
  EXPECT_THAT(known.find_freed(0x1010)->freed_at(), ElementsAre("second.c:1 (main)"));
  EXPECT_THAT(known.find_freed(0x1000)->freed_at(), ElementsAre("first.c:1 (main)"));
}

// More changes than the table notes, and more freed allocations than it remembers.
TEST(AllocationTable, IsReadWholeWhereTooMuchHasChanged) {
  const auto made = AllocationTable::create();
  ASSERT_TRUE(made);
  AllocationTable& table = **made;
  table.add({8, 4, 1});
  KnownAllocations known = table.read();
  for (std::uint64_t i = 1; i <= AllocationTable::kEntries; ++i) {
    table.add({i * 16, 16, 1});
    table.free(i * 16, {});
  }
  table.free(8, {});
  table.add({12, 4, 1});
  table.update(known);
  ASSERT_THAT(known.live(), SizeIs(1));
  EXPECT_EQ(known.live()[0]->address, 12U);
  EXPECT_EQ(known.find_freed(16), nullptr);
  EXPECT_NE(known.find_freed(AllocationTable::kEntries * 16), nullptr);
  EXPECT_NE(known.find_freed(8), nullptr);
}

TEST(ShadowBytes, ForgetsWhatWasWrittenWhenMemoryIsGivenBack) {
  const auto chip = load_chip("demo4");
  ASSERT_TRUE(chip);
  const auto shadow = Shadow::create(*chip);
  ASSERT_TRUE(shadow);
  const std::uint64_t start = chip->global_mem.start + 100;
  for (const std::uint64_t bytes : {20000U, 1U << 20}) {
    (*shadow)->mark_allocated(start, bytes);
    (*shadow)->mark_written(start, bytes);
    EXPECT_EQ(find_other((*shadow)->global(start), bytes, Shadow::kLastLaunch), bytes);
    (*shadow)->forget(start, bytes);
    EXPECT_EQ(find_other((*shadow)->global(start), bytes, Shadow::kUnknown), bytes);
  }
}

TEST(ShadowBytes, FindsTheFirstOtherByteAnywhere) {
  std::vector<std::uint8_t> bytes(1000, 7);
  EXPECT_EQ(find_other(bytes.data(), bytes.size(), 7), 1000U);
  for (std::size_t at : {0U, 1U, 255U, 256U, 300U, 999U}) {
    bytes.assign(1000, 7);
    bytes[at] = 6;
    EXPECT_EQ(find_other(bytes.data(), bytes.size(), 7), at);
  }
}

TEST(ShadowBytes, NumbersOfLaunchesStartAgain) {
  const auto chip = load_chip("demo4");
  ASSERT_TRUE(chip);
  const auto shadow = Shadow::create(*chip);
  ASSERT_TRUE(shadow);
  const std::uint64_t l2 = chip->l2_sram.start, bytes = chip->l2_sram.bytes;
  ASSERT_GT(bytes, 20000U);
  // Written in every launch, in the first only, and never.
  const Span always{SpanSpace::kSystem, l2 + 4090, l2 + 4100}, once{SpanSpace::kSystem, l2 + bytes - 1, l2 + bytes};
  for (int i = 0; i < 1000; ++i) {
    (*shadow)->begin_launch();
    const std::uint8_t now = (*shadow)->launch();
    EXPECT_GT(now, Shadow::kFirstLaunch);
    const std::uint8_t* const states = (*shadow)->find(always);
    for (int byte = 0; byte < 10; ++byte)
      EXPECT_NE(states[byte], now) << "what the launch before wrote must not count as this one's";
    (*shadow)->mark_written(always);
    EXPECT_EQ(find_other(states, 10, now), 10U);
    if (i == 0) (*shadow)->mark_written(once);
    const std::uint8_t late = *(*shadow)->find(once);
    EXPECT_TRUE(i == 0 ? late == now : late >= Shadow::kFirstLaunch && late != now);
    EXPECT_EQ(*(*shadow)->find({SpanSpace::kSystem, l2 + 12000, l2 + 12001}), Shadow::kUnknown);
  }
}

TEST(ShadowBytes, ARunningLaunchKeepsItsMarksWhileOthersBegin) {
  const auto chip = load_chip("demo4");
  ASSERT_TRUE(chip);
  const auto shadow = Shadow::create(*chip);
  ASSERT_TRUE(shadow);
  for (std::uint64_t i = 0; i < 600; ++i) {
    const std::uint64_t byte = chip->l2_sram.start + i % 100;
    (*shadow)->begin_launch();
    const std::uint8_t own = (*shadow)->launch();
    (*shadow)->mark_written({SpanSpace::kSystem, byte, byte + 1});
    for (int others = 0; others < 70; ++others) (*shadow)->begin_launch();
    EXPECT_EQ(*(*shadow)->find({SpanSpace::kSystem, byte, byte + 1}), own) << i;
  }
}

TEST(ShadowBytes, KnowsTheLanesOfLocalMemoryThatWereWritten) {
  const auto chip = load_chip("demo4");
  ASSERT_TRUE(chip);
  const auto made = Shadow::create(*chip);
  ASSERT_TRUE(made);
  Shadow& shadow = **made;
  const auto state = [&](std::uint64_t lane, std::uint64_t offset) {
    const std::uint64_t at = lane * chip->local_bytes + offset;
    return *shadow.find({SpanSpace::kLocal, at, at + 1});
  };
  shadow.begin_launch();
  shadow.mark_written({500, 900, 0b101});
  EXPECT_EQ(shadow.unwritten_lanes({500, 900, 0b101}), 0U);
  EXPECT_EQ(shadow.unwritten_lanes({704, 705, 0b100}), 0U);
  EXPECT_EQ(shadow.unwritten_lanes({500, 900, 0b111}), 0b010U);
  EXPECT_EQ(shadow.unwritten_lanes({500, 901, 0b101}), 0b101U);
  EXPECT_EQ(shadow.unwritten_lanes({499, 900, 0b001}), 0b001U);
  EXPECT_EQ(state(2, 899), shadow.launch());
  EXPECT_EQ(state(1, 899), Shadow::kUnknown);
  const std::uint64_t lane = 2 * std::uint64_t{chip->local_bytes};
  shadow.mark_bad({SpanSpace::kLocal, lane + 510, lane + 514}, Shadow::kStale);
  shadow.mark_bad({SpanSpace::kLocal, lane + 700, lane + 702}, Shadow::kFirstTaint);
  EXPECT_EQ(shadow.unwritten_lanes({513, 514, 0b100}), 0b100U);
  EXPECT_EQ(shadow.unwritten_lanes({513, 514, 0b001}), 0U);
  EXPECT_EQ(state(2, 513), Shadow::kStale);
  EXPECT_EQ(state(2, 701), Shadow::kFirstTaint);
  shadow.mark_written({511, 512, 0b100});
  EXPECT_EQ(state(2, 510), Shadow::kStale);
  EXPECT_EQ(state(2, 511), shadow.launch());

  shadow.begin_launch();
  EXPECT_EQ(shadow.unwritten_lanes({600, 601, 0b001}), 0b001U);
  EXPECT_EQ(state(2, 899), Shadow::kFirstLaunch);
  EXPECT_EQ(state(2, 510), Shadow::kStale) << "until it is written again";
  EXPECT_EQ(state(2, 511), Shadow::kFirstLaunch);
  EXPECT_EQ(state(2, 701), Shadow::kFirstLaunch) << "taints are of one launch";
  EXPECT_EQ(state(1, 899), Shadow::kUnknown);
}

TEST(ModuleSymbols, ListsWhatALibraryTakesFromOthers) {
  const int self = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const auto symbols = undefined_symbols(self, "self");
  ::close(self);
  ASSERT_TRUE(symbols) << symbols.error().text;
  EXPECT_THAT(*symbols, Contains("memcpy"));
}

TEST(ModuleSymbols, SurvivesDamagedFiles) {
  const int self = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  std::vector<char> head(64);
  ASSERT_EQ(::read(self, head.data(), head.size()), 64);
  ::close(self);
  for (std::size_t bytes = 0; bytes <= head.size(); bytes += 8) {
    const int file = ::memfd_create("damaged", MFD_CLOEXEC);
    ASSERT_EQ(::write(file, head.data(), bytes), static_cast<ssize_t>(bytes));
    const auto symbols = undefined_symbols(file, "damaged");
    EXPECT_TRUE(!symbols || symbols->empty()) << bytes;
    ::close(file);
  }
}

TEST(ModuleSymbols, AreComparedWithTheChips) {
  Findings findings(100);
  ::testing::internal::CaptureStderr();
  check_symbols(findings, "k.so", {"memcpy", "malloc", "_Znwm", "pthread_create", "sinf", "tpu_poll", "printf"});
  const auto bm1684 = load_chip("bm1684");
  ASSERT_TRUE(bm1684);
  check_portable_symbols(findings, "k.so", {"memcpy", "tpu_poll", "okk_poll"}, {*bm1684});
  ::testing::internal::GetCapturedStderr();
  std::vector<std::string> functions;
  for (const ReportedFinding& found : findings.all()) functions.push_back(found.rule + " " + found.parties[0].function);
  EXPECT_THAT(functions, ElementsAre("constraint/symbol malloc", "constraint/symbol _Znwm",
                                     "constraint/symbol pthread_create", "constraint/portable-function tpu_poll"));
}

}  // namespace
}  // namespace softtpu
