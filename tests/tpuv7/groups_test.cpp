// Launches of several groups and workitems through libtpuv7_rt, on a chip with eight cores: what was observed of them.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <ostream>

#include "tests/tpuv7/rt_fixture.hpp"
#include "tpu_runtime_api/tpu_runtime_api.h"
#include "tpudnn/tpuDNN.h"

namespace softtpu::host_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kCores = 8;
constexpr int kL2OfACore = 15728640;

// What the kernel `place` has written of one workitem.
struct Place {
  int stamp, core_index, workitem_index, physical_core, core_num, workitem_num, group_index, group_num, is_last,
      first_core, message, l2_bytes, size, sum, runs;
};

class EightCores : public Rt {
 protected:
  void SetUp() override {
    ::setenv("SOFTTPU_CHIP", "bm1690", 1);
    Rt::SetUp();
  }
  // Zeros, and an argument block that begins with rt_param_t and goes on with 1, 2, 3 ...
  std::vector<int> block(std::size_t words) {
    EXPECT_EQ(tpuRtMemcpyS2D(memory_, std::vector<int>(kWords).data(), kWords * 4), tpuRtSuccess);
    std::vector<int> made(words);
    std::iota(made.begin(), made.end(), 1);
    const rt_param_t head = args(0);
    std::copy_n(reinterpret_cast<const int*>(&head), sizeof head / 4, made.begin());
    return made;
  }
  Place place_of(int group, int workitem) {
    const std::vector<int> all = words();
    Place place;
    static_assert(sizeof place == 15 * sizeof(int));
    std::copy_n(all.begin() + 32 * (1 + group * kCores + workitem), 15, reinterpret_cast<int*>(&place));
    return place;
  }
  // Workitems that took part in a launch that a chip or a variable may have cut down.
  int workitems_that_ran() {
    int count = 0;
    while (count < kCores && place_of(0, count).stamp != 0) ++count;
    return count;
  }
  tpuRtStatus_t run(std::vector<int>& given, std::uint64_t groups, std::uint64_t blocks) {
    return tpuRtKernelLaunch(module_, "place", given.data(), static_cast<std::uint32_t>(given.size() * 4), groups,
                             blocks, stream_);
  }
  static constexpr int kGroups = 3;
};

// Observed: nothing of the block is split, and the second parameter of a FUNC2 kernel is its size.
TEST_F(EightCores, EveryWorkitemOfEveryGroupSeesTheWholeArgumentBlock) {
  for (const std::size_t words : {5U, 100U, 16384U}) {
    std::vector<int> given = block(words);
    const int sum = std::accumulate(given.begin(), given.end(), 0);
    ASSERT_EQ(run(given, kGroups, kCores), tpuRtSuccess);
    for (int group = 0; group < kGroups; ++group) {
      for (int workitem = 0; workitem < kCores; ++workitem) {
        const Place place = place_of(group, workitem);
        EXPECT_EQ(place.size, static_cast<int>(words * 4));
        EXPECT_EQ(place.sum, sum) << "group " << group << ", workitem " << workitem << ": a copy of its own";
      }
    }
  }
}

// Observed: core index = workitem index = physical core; core_num = workitem_num = block_num.
TEST_F(EightCores, WorkitemsAreTheFirstCores) {
  for (const int blocks : {1, 2, 3, 4, 8}) {
    std::vector<int> given = block(8);
    ASSERT_EQ(run(given, 1, static_cast<std::uint64_t>(blocks)), tpuRtSuccess);
    EXPECT_EQ(workitems_that_ran(), blocks);
    for (int i = 0; i < blocks; ++i) {
      const Place place = place_of(0, i);
      EXPECT_EQ(place.core_index, i);
      EXPECT_EQ(place.workitem_index, i);
      EXPECT_EQ(place.physical_core, i);
      EXPECT_EQ(place.core_num, blocks);
      EXPECT_EQ(place.workitem_num, blocks);
      EXPECT_EQ(place.group_index, 0);
      EXPECT_EQ(place.group_num, 1);
      EXPECT_EQ(place.is_last, i + 1 == blocks ? 1 : 0);
      EXPECT_EQ(place.first_core, 0);
      EXPECT_EQ(place.message, 0);
      EXPECT_EQ(place.l2_bytes, kL2OfACore * blocks);
    }
  }
}

// Observed: the kernel runs group_num times on every core, group after group; the last workitem is one of the last
// group.
TEST_F(EightCores, GroupsRunOneAfterTheOtherOnEveryCore) {
  for (const int blocks : {1, 2, 8}) {
    std::vector<int> given = block(8);
    ASSERT_EQ(run(given, kGroups, static_cast<std::uint64_t>(blocks)), tpuRtSuccess);
    EXPECT_EQ(words()[0], kGroups * blocks) << "so many runs";
    for (int group = 0; group < kGroups; ++group) {
      for (int i = 0; i < blocks; ++i) {
        const Place place = place_of(group, i);
        EXPECT_EQ(place.group_index, group);
        EXPECT_EQ(place.group_num, kGroups);
        EXPECT_EQ(place.workitem_index, i);
        EXPECT_EQ(place.workitem_num, blocks);
        EXPECT_EQ(place.physical_core, i);
        EXPECT_EQ(place.is_last, group + 1 == kGroups && i + 1 == blocks ? 1 : 0);
        const int before = group == 0 ? 0 : place_of(group - 1, i).stamp;
        EXPECT_GT(place.stamp, before);
      }
    }
  }
}

// The emulator runs 8 of 9 or 16 workitems, with status 0: the others' part of the result is missing without a word.
TEST_F(EightCores, MoreWorkitemsThanCoresAreRefused) {
  for (const std::uint64_t blocks : {std::uint64_t{9}, std::uint64_t{16}, std::uint64_t{1} << 40}) {
    std::vector<int> given = block(8);
    EXPECT_REFUSED(run(given, 1, blocks), tpuRtErrFailure, "tpuRtKernelLaunch", "has 8 cores");
  }
}

// Observed: the module is loaded once per core, and its static variables live as long as it.
TEST_F(EightCores, EachCoreHasItsOwnStaticVariables) {
  const auto runs = [&](std::uint64_t groups, std::uint64_t blocks) {
    std::vector<int> given = block(8);
    EXPECT_EQ(run(given, groups, blocks), tpuRtSuccess);
    std::vector<int> counts;
    for (int i = 0; i < static_cast<int>(blocks); ++i) counts.push_back(place_of(static_cast<int>(groups) - 1, i).runs);
    return counts;
  };
  EXPECT_THAT(runs(1, 2), ElementsAre(1, 1));
  EXPECT_THAT(runs(1, 4), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(runs(3, 3), ElementsAre(5, 5, 4)) << "three groups are three runs";
  EXPECT_THAT(runs(1, 8), ElementsAre(6, 6, 5, 2, 1, 1, 1, 1));
  EXPECT_EQ(tpuRtKernelUnloadModule(module_, stream_), tpuRtSuccess);
  module_ = tpuRtKernelLoadModuleFile(SOFTTPU_TEST_RT_KERNELS, stream_);
  EXPECT_THAT(runs(1, 3), ElementsAre(1, 1, 1)) << "a module that is loaded again begins anew";
}

// Observed: tpu_sync_all with 1, 2, 3, 4, 8 workitems is a real barrier.
TEST_F(EightCores, AllWorkitemsOfALaunchMeet) {
  for (const int blocks : {1, 2, 3, 4, 8}) {
    constexpr int kRounds = 5;
    std::vector<int> zeros = block(1024);
    rt_param_t param = args(kRounds);
    ASSERT_EQ(tpuRtKernelLaunch(module_, "meet", &param, sizeof param, 2, static_cast<std::uint64_t>(blocks), stream_),
              tpuRtSuccess);
    const std::vector<int> all = words();
    for (int i = 0; i < blocks; ++i) EXPECT_EQ(all[static_cast<std::size_t>(16 + i)], 2 * kRounds * blocks);
  }
}

// Observed: local memory keeps its contents between launches, each core its own; L2 is one memory for all cores and
// starts as 0.
TEST_F(EightCores, LocalMemoryAndL2KeepTheirContentsBetweenLaunches) {
  rt_param_t param = args(100);
  const auto go = [&](const char* kernel, std::uint64_t blocks) {
    return tpuRtKernelLaunch(module_, kernel, &param, sizeof param, 1, blocks, stream_);
  };
  ASSERT_EQ(go("look_back", 1), tpuRtSuccess);
  EXPECT_EQ(words()[0], 0) << "local memory starts as zero, which is a deviation";
  EXPECT_EQ(words()[1], 0);
  ASSERT_EQ(go("leave_behind", 3), tpuRtSuccess);
  ASSERT_EQ(go("nothing", 8), tpuRtSuccess);
  ASSERT_EQ(go("look_back", 3), tpuRtSuccess);
  const std::vector<int> all = words();
  EXPECT_THAT(std::vector<int>(all.begin(), all.begin() + 6), ElementsAre(100, 100, 101, 100, 102, 100));
}

// Observed: a failure of one core ends the program; here it is the launch's, reported once, and the next launch works.
TEST_F(EightCores, AFailureOfOneWorkitemIsTheLaunchs) {
  rt_param_t param = args(5);
  EXPECT_REFUSED(tpuRtKernelLaunch(module_, "one_fails", &param, sizeof param, 1, 8, stream_), tpuRtErrFailure,
                 "tpuRtKernelLaunch", "tpu_workitem_index() != value_of(args)");
  std::vector<int> given = block(8);
  ASSERT_EQ(run(given, 2, 8), tpuRtSuccess);
  EXPECT_EQ(words()[0], 16);
}

TEST_F(EightCores, TheOtherInterfacesLaunchTheSameGroups) {
  std::vector<int> given = block(8);
  const auto bytes = static_cast<std::uint32_t>(given.size() * 4);
  EXPECT_EQ(tpuKernelLaunch(module_, "place", given.data(), bytes, 2, 3, stream_), tpuSuccess);
  EXPECT_EQ(words()[0], 6);
  EXPECT_EQ(place_of(1, 2).workitem_num, 3);
  EXPECT_EQ(place_of(1, 2).group_num, 2);
  given = block(8);
  const tpudnnHandle_t handle = tpudnnHandleFromStream(0, stream_, module_);
  EXPECT_EQ(tpudnnLaunchKernel(handle, "place", given.data(), bytes, 3, 2), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(tpudnnSync(handle), TPUDNN_STATUS_SUCCESS);
  EXPECT_EQ(words()[0], 6);
  EXPECT_EQ(place_of(2, 1).workitem_num, 2);
  EXPECT_EQ(place_of(2, 1).is_last, 1);
  tpudnnDestroy(handle);
}

// ---- Variables that limit the cores ----

struct Limit {
  const char *rt, *tilelang;
  int workitems;
};
// What ctest shows of it; addresses would be others in every build.
void PrintTo(const Limit& limit, std::ostream* out) { *out << limit.workitems << " workitems"; }

class LimitedCores : public EightCores, public ::testing::WithParamInterface<Limit> {
  void SetUp() override {
    if (GetParam().rt != nullptr) ::setenv("TPU_RT_CORE_NUM", GetParam().rt, 1);
    if (GetParam().tilelang != nullptr) ::setenv("TILELANG_TPU_NUM_CORES", GetParam().tilelang, 1);
    EightCores::SetUp();
  }
};

// Observed: block_num 4 with TPU_RT_CORE_NUM=2 ran 2.
TEST_P(LimitedCores, RunNoMoreWorkitems) {
  std::vector<int> given = block(8);
  ASSERT_EQ(run(given, 2, 8), tpuRtSuccess);
  EXPECT_EQ(workitems_that_ran(), GetParam().workitems);
  EXPECT_EQ(place_of(0, 0).workitem_num, GetParam().workitems);
  EXPECT_EQ(words()[0], 2 * GetParam().workitems);
}

INSTANTIATE_TEST_SUITE_P(With, LimitedCores,
                         ::testing::Values(Limit{"2", nullptr, 2}, Limit{nullptr, "3", 3}, Limit{"4", "2", 2},
                                           Limit{"1", "8", 1}, Limit{"99", nullptr, 8}, Limit{"", "", 8}),
                         [](const auto& limit) {
                           const auto text = [](const char* value) {
                             return value == nullptr ? "Unset" : *value == '\0' ? "Empty" : value;
                           };
                           return std::string("RtCoreNum") + text(limit.param.rt) + "TileLang" +
                                  text(limit.param.tilelang);
                         });

class WronglyLimitedCores : public ::testing::TestWithParam<const char*> {};

TEST_P(WronglyLimitedCores, AreRefusedWithTheVariablesName) {
  bmlib_log_set_callback(&keep_log_line);
  for (const char* variable : {"TPU_RT_CORE_NUM", "TILELANG_TPU_NUM_CORES"}) {
    ::setenv(variable, GetParam(), 1);
    EXPECT_REFUSED(tpuRtSetDevice(0), tpuRtErrorInvalidValue, "tpuRtSetDevice", variable);
    ::unsetenv(variable);
  }
}
INSTANTIATE_TEST_SUITE_P(With, WronglyLimitedCores, ::testing::Values("0", "-1", "many", "2x"),
                         [](const auto& value) { return "Number" + std::to_string(value.index); });

}  // namespace
}  // namespace softtpu::host_test
