// Launches on several cores: their numbers, barriers and messages, and what becomes of the others when one fails.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

#include "bmlib_internal.h"
#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Param {
  unsigned long long address = 0;
  int count = 0;
  int value = 0;
};

class Cores : public Host, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr unsigned kWords = 8192;

  void SetUp() override {
    setenv("SOFTTPU_CHIP", (std::string(SOFTTPU_CHIP_FOLDER "/cores") + std::to_string(chip_cores()) + ".json").c_str(),
           1);
    // A process keeps the device of a number: one of each chip.
    device_id_ = GetParam() == 2 ? 0 : 1;
    Host::SetUp();
    module_ = tpu_kernel_load_module_file(handle_, SOFTTPU_CORE_KERNELS);
    ASSERT_NE(module_, nullptr) << ::testing::PrintToString(take_log());
    mem_ = upload(std::vector<std::uint8_t>(kWords * 4, 0));
    param_.address = bm_mem_get_device_addr(mem_);
  }
  void TearDown() override {
    bm_free_device(handle_, mem_);
    Host::TearDown();
  }
  int chip_cores() { return GetParam(); }

  std::vector<int> words() {
    std::vector<int> result(kWords);
    EXPECT_EQ(bm_memcpy_d2s(handle_, result.data(), mem_), BM_SUCCESS);
    return result;
  }
  void clear() {
    std::vector<std::uint8_t> zeros(kWords * 4);
    EXPECT_EQ(bm_memcpy_s2d(handle_, mem_, zeros.data()), BM_SUCCESS);
  }
  std::vector<int> first(int count) {
    std::vector<int> cores;
    for (int i = 0; i < count; ++i) cores.push_back(i);
    return cores;
  }
  bm_status_t launch(const char* name, int count, int value, const std::vector<int>& cores) {
    param_.count = count;
    param_.value = value;
    return tpu_kernel_launch_sync_multi_cores(handle_, name, &param_, sizeof param_, cores.data(),
                                              static_cast<int>(cores.size()));
  }
  bm_status_t launch(const char* name, int count, int value) { return launch(name, count, value, first(chip_cores())); }
  // The launch fails, and this is all that is said about it.
  std::string failure(const char* name, int count, int value, const std::vector<int>& cores) {
    take_log();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(launch(name, count, value, cores), BM_SUCCESS);
    taken_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto lines = take_log();
    EXPECT_EQ(lines.size(), 1U) << ::testing::PrintToString(lines);
    // All cores work on.
    EXPECT_EQ(launch("meet", 3, 0), BM_SUCCESS);
    return lines.empty() ? "" : lines.front();
  }
  std::string failure(const char* name, int count, int value) {
    return failure(name, count, value, first(chip_cores()));
  }

  tpu_kernel_module_t module_ = nullptr;
  bm_device_mem_t mem_{};
  Param param_;
  double taken_ = 0;
};

TEST_P(Cores, KnowTheirPlaceInTheLaunch) {
  const int has = GetParam();
  for (int cores = 1; cores <= has; ++cores) {
    clear();
    ASSERT_EQ(launch("identity", 0, 40 + cores, first(cores)), BM_SUCCESS) << ::testing::PrintToString(take_log());
    const auto seen = words();
    for (int core = 0; core < has; ++core) {
      const std::vector<int> own(seen.begin() + 16 * core, seen.begin() + 16 * core + 12);
      const std::vector<int> expected = {cores, core,       cores, core, 1, 0, has, 0, core + 1 == cores ? 1 : 0,
                                         has,   40 + cores, 1};
      EXPECT_EQ(own, core < cores ? expected : std::vector<int>(12)) << core << " of " << cores;
    }
  }
}

TEST_P(Cores, AreTakenInTheOrderOfTheList) {
  ASSERT_EQ(launch("identity", 0, 1, {1, 0}), BM_SUCCESS);
  const auto seen = words();
  EXPECT_EQ(seen[3], 1);
  EXPECT_EQ(seen[16 + 3], 0);
  EXPECT_EQ(seen[16 + 7], 1) << "the first core of the launch";
}

TEST_P(Cores, RunGroupsOfTheFirstOnes) {
  const tpu_kernel_function_t identity = tpu_kernel_get_function(handle_, module_, "identity");
  const auto run = [&](int groups, int blocks) {
    return tpu_kernel_launch_from_multi_cores(handle_, identity, &param_, sizeof param_, groups, blocks);
  };
  clear();
  ASSERT_EQ(run(3, GetParam()), BM_SUCCESS) << ::testing::PrintToString(take_log());
  const auto seen = words();
  for (int core = 0; core < GetParam(); ++core) {
    const auto own = seen.begin() + 16 * core;
    EXPECT_EQ(std::vector<int>(own, own + 2), (std::vector<int>{GetParam(), core}));
    EXPECT_EQ(std::vector<int>(own + 4, own + 6), (std::vector<int>{3, 2})) << "the last group";
  }
  EXPECT_REFUSED(run(0, 1), BM_ERR_PARAM, "tpu_kernel_launch_from_multi_cores",
                 "0 groups of 1 workitems: both must be at least 1");
  EXPECT_NE(run(1, GetParam() + 1), BM_SUCCESS);
  take_log();
}

TEST_P(Cores, ALaunchOnOneCoreIsAloneThere) {
  param_.value = 9;
  const tpu_kernel_function_t identity = tpu_kernel_get_function(handle_, module_, "identity");
  ASSERT_EQ(tpu_kernel_launch_from_core(handle_, identity, &param_, sizeof param_, 1), BM_SUCCESS);
  const auto seen = words();
  EXPECT_EQ(seen[16], 1);
  EXPECT_EQ(seen[16 + 1], 0);
  EXPECT_EQ(seen[16 + 10], 9);
  EXPECT_EQ(seen[0], 0);
}

TEST_P(Cores, HaveArgumentsAndFunctionsOfTheirOwn) {
  Param second = param_;
  param_.value = 5;
  second.value = 6;
  tpu_launch_param_t list[2] = {
      {0, tpu_kernel_get_function(handle_, module_, "identity"), &param_, sizeof param_},
      {1, tpu_kernel_get_function(handle_, module_, "other_identity"), &second, sizeof second}};
  ASSERT_EQ(tpu_kernel_launch_async_multicores(handle_, list, 2), BM_SUCCESS);
  ASSERT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS);
  const auto seen = words();
  EXPECT_EQ(seen[0], 2);
  EXPECT_EQ(seen[10], 5);
  EXPECT_EQ(seen[16 + 10], 6);
}

TEST_P(Cores, MeetAndExchangeThroughL2) {
  for (const int cores : {1, 2, GetParam()}) {
    for (const int rounds : {1, 2, 7}) {
      ASSERT_EQ(launch("ring", rounds, 100, first(cores)), BM_SUCCESS) << ::testing::PrintToString(take_log());
      std::vector<int> expected;
      for (int core = 0; core < cores; ++core) expected.push_back(100 + core);
      for (int round = 0; round < rounds; ++round) {
        const auto before = expected;
        for (int core = 0; core < cores; ++core) {
          expected[static_cast<std::size_t>(core)] += before[static_cast<std::size_t>((core + 1) % cores)];
        }
      }
      const auto seen = words();
      for (int core = 0; core < cores; ++core) {
        EXPECT_EQ(seen[static_cast<std::size_t>(core * 128 + 77)], expected[static_cast<std::size_t>(core)])
            << "core " << core << " of " << cores << ", " << rounds << " rounds";
      }
    }
  }
}

// However few processors there are: with equal work, no core is far behind another one.
TEST_P(Cores, DoNotStarveEachOther) {
  ASSERT_EQ(launch("work_for", 400, 0), BM_SUCCESS) << ::testing::PrintToString(take_log());
  const auto seen = words();
  std::vector<int> done;
  for (int core = 0; core < GetParam(); ++core) done.push_back(seen[static_cast<std::size_t>(16 * core)]);
  const auto [least, most] = std::minmax_element(done.begin(), done.end());
  EXPECT_GT(*least, *most / 20) << ::testing::PrintToString(done);
  RecordProperty("least", *least);
  RecordProperty("most", *most);
  std::printf("commands of each core: %d to %d\n", *least, *most);
}

TEST_P(Cores, SendEachOtherMessages) {
  ASSERT_EQ(launch("messages", 9, 3), BM_SUCCESS) << ::testing::PrintToString(take_log());
  int sum = 0;
  for (int round = 0; round < 9; ++round) {
    for (int core = 1; core < GetParam(); ++core) sum += (3 + round) * core;
  }
  EXPECT_EQ(words()[16], sum);
}

TEST_P(Cores, OfOneEngineThatWaitsTheOtherOneWorksOn) {
  ASSERT_EQ(launch("engines_wait_alone", 0, 0, {0, 1}), BM_SUCCESS) << ::testing::PrintToString(take_log());
  EXPECT_EQ(words()[3], 5);
}

TEST_P(Cores, HoldALockOneAtATime) {
  ASSERT_EQ(launch("count_under_lock", 300, 2), BM_SUCCESS) << ::testing::PrintToString(take_log());
  EXPECT_EQ(words()[0], 300 * GetParam());
}

TEST_P(Cores, SomeMeetAtABarrierOfTheirOwn) {
  ASSERT_EQ(launch("barriers", 20, 0), BM_SUCCESS) << ::testing::PrintToString(take_log());
  const auto seen = words();
  EXPECT_EQ(seen[0], 20);
  EXPECT_EQ(seen[16], 20);
  EXPECT_EQ(seen[128], 0) << "a core was let through too early";
}

// Launches of one stream follow each other on all cores, although each core has the next one ahead.
TEST_P(Cores, AStreamsLaunchesDoNotOvertake) {
  for (int i = 0; i < 40; ++i) {
    param_.count = 1 + i % 3;
    param_.value = 1000 * i;
    const auto cores = first(GetParam());
    ASSERT_EQ(tpu_kernel_launch_async_multi_cores(handle_, i % 2 == 0 ? "ring" : "identity", &param_, sizeof param_,
                                                  cores.data(), GetParam()),
              BM_SUCCESS);
  }
  ASSERT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS) << ::testing::PrintToString(take_log());
  EXPECT_EQ(words()[10], 39000);
}

// Whichever core fails in whichever launch: those before and behind it end as well, on all cores and on one.
TEST_P(Cores, AFailureInAQueueIsToldByItsSync) {
  const auto cores = first(GetParam());
  for (const int failing : {0, 1, 7, 20, 39}) {
    for (const int core : {0, GetParam() - 1}) {
      for (int i = 0; i < 40; ++i) {
        param_.value = core;
        ASSERT_EQ(tpu_kernel_launch_async_multi_cores(handle_, i == failing ? "asserts" : "empty", &param_,
                                                      sizeof param_, cores.data(), i % 3 == 2 ? 1 : GetParam()),
                  BM_SUCCESS);
      }
      // Of one core, that is core 0.
      const bool fails = failing % 3 != 2 || core == 0;
      EXPECT_EQ(tpu_kernel_sync(handle_) == BM_SUCCESS, !fails) << failing << " " << core;
      EXPECT_EQ(take_log().size(), fails ? 1U : 0U);
      EXPECT_EQ(launch("meet", 3, 0), BM_SUCCESS);
    }
  }
}

TEST_P(Cores, OfTwoProgramsHandlesTakeTurns) {
  bm_handle_t other = nullptr;
  ASSERT_EQ(bm_dev_request(&other, device_id_), BM_SUCCESS);
  const auto cores = first(GetParam());
  const std::vector<int> reversed(cores.rbegin(), cores.rend());
  for (int i = 0; i < 30; ++i) {
    param_.count = 3;
    ASSERT_EQ(tpu_kernel_launch_async_multi_cores(handle_, "meet", &param_, sizeof param_, cores.data(), GetParam()),
              BM_SUCCESS);
    ASSERT_EQ(tpu_kernel_launch_async_multi_cores(other, "meet", &param_, sizeof param_, reversed.data(), GetParam()),
              BM_SUCCESS);
  }
  EXPECT_EQ(tpu_kernel_sync(other), BM_SUCCESS);
  EXPECT_EQ(tpu_kernel_sync(handle_), BM_SUCCESS);
  bm_dev_free(other);
}

// ---- Objects and registrations of either generation ----

TEST_P(Cores, RunObjectsOfBothGenerationsOfHeaders) {
  ASSERT_NE(tpu_kernel_load_module_file(handle_, SOFTTPU_GENERATIONS), nullptr) << ::testing::PrintToString(take_log());
  for (const char* kernel : {"older", "newer", "sized"}) {
    ASSERT_EQ(launch(kernel, 0, 100, {0}), BM_SUCCESS) << kernel << ::testing::PrintToString(take_log());
  }
  const auto seen = words();
  EXPECT_EQ(std::vector<int>(seen.begin(), seen.begin() + 3), (std::vector<int>{101, 102, 100 + int{sizeof(Param)}}));
}

TEST_P(Cores, RunBothFormsOfKernels) {
  for (const char* path : {SOFTTPU_FORMS, SOFTTPU_FORMS_BM1684X}) {
    const tpu_kernel_module_t forms = tpu_kernel_load_module_file(handle_, path);
    ASSERT_NE(forms, nullptr) << ::testing::PrintToString(take_log());
    clear();
    for (const char* kernel : {"first_form", "second_form", "with_two", "with_three"}) {
      const tpu_kernel_function_t function = tpu_kernel_get_function(handle_, forms, kernel);
      ASSERT_NE(function, 0) << kernel;
      param_.value = 500;
      ASSERT_EQ(tpu_kernel_launch(handle_, function, &param_, sizeof param_), BM_SUCCESS)
          << kernel << ::testing::PrintToString(take_log());
    }
    const auto seen = words();
    EXPECT_EQ(std::vector<int>(seen.begin(), seen.begin() + 3), (std::vector<int>{510, 501 + int{sizeof(Param)}, 530}))
        << path;
  }
}

// ---- Failures ----

TEST_P(Cores, ACrashEndsTheLaunchAndIsToldOnce) {
  for (const int culprit : {0, GetParam() - 1}) {
    const std::string text = failure("crashes", 0, culprit);
    EXPECT_THAT(text, HasSubstr("on core " + std::to_string(culprit) + " was ended by signal 11"));
    EXPECT_THAT(text, HasSubstr("core_kernels.c:"));
    EXPECT_THAT(text, HasSubstr("ended on the other cores too: "));
  }
}

TEST_P(Cores, ABrokenRuleEndsTheLaunchOfCoresThatOnlyPoll) {
  const std::string text = failure("breaks_a_rule", 0, 1);
  EXPECT_THAT(text, AllOf(HasSubstr("tpu_bdc_fp_add"), HasSubstr("on core 1, command"), HasSubstr("core_kernels.c:")));
  EXPECT_LT(taken_, 5.0);
}

TEST_P(Cores, AnAssertionEndsTheLaunch) {
  EXPECT_THAT(failure("asserts", 0, 0), HasSubstr("tpu_core_index() != param->value"));
}

TEST_P(Cores, ThatMakeNoCallAnyMoreAreEnded) {
  EXPECT_THAT(failure("spins_beside_a_crash", 0, 1), HasSubstr("on core 1 was ended by signal 6"));
  EXPECT_LT(taken_, 10.0);
}

TEST_P(Cores, OneThatHangsIsTheOneThatIsBlamed) {
  bm_set_sync_timeout(handle_, 700);
  EXPECT_THAT(failure("hangs", 0, 1), HasSubstr("on core 1 issued no command for 0.7 s"));
}

TEST_P(Cores, ADeadlockNamesEachCoreAndWhatItWaitsFor) {
  const std::string message = failure("waits_for_nobody", 0, 1);
  EXPECT_THAT(message, AllOf(HasSubstr("\"waits_for_nobody\": deadlock"), HasSubstr("core 0 has ended"),
                             HasSubstr("core 1 waits in tpu_gdma_wait_msg for message 21 to be sent once; no core has "
                                       "sent it"),
                             HasSubstr("core_kernels.c:")));
  EXPECT_LT(taken_, 10.0);
  const std::string meeting = failure("misses_a_meeting", 0, 1);
  EXPECT_THAT(meeting, AllOf(HasSubstr("core 0 waits in tpu_sync_all, where"), HasSubstr("not core 1"),
                             HasSubstr("core 1 has ended")));
  const std::string circle = failure("waits_in_a_circle", 0, 0, {0, 1});
  EXPECT_THAT(circle, AllOf(HasSubstr("core 0 waits in tpu_gdma_wait_msg for message 31"),
                            HasSubstr("core 1 waits in tpu_gdma_wait_msg for message 30")));
  const std::string lock = failure("keeps_a_lock", 0, 0, {0, 1});
  EXPECT_THAT(lock, HasSubstr("for lock 3, which core"));
}

TEST_P(Cores, MisusedMessagesAreRefused) {
  const char* const texts[] = {"msg_id (128) is outside 0..127",
                               "msg_id (-1) is negative",
                               "(0) is outside 1..7",
                               "(8) is outside 1..7",
                               "message 5 is in use: it was sent for 1 wait, and now for 2",
                               "message 5 was sent twice, more often than this wait asks for (1)",
                               "core_num (9) is outside 1..",
                               "lock_id (64) is outside 0..63",
                               "lock 2 is not held",
                               "msg_id (128) is outside 0..127"};
  for (int i = 0; i < 10; ++i) {
    EXPECT_THAT(failure("misuses_messages", 0, i, {0, 1}), HasSubstr(texts[i])) << i;
  }
}

TEST_P(Cores, LaunchesThatCannotBeAreRefused) {
  const int has = GetParam();
  const int beyond[] = {0, has}, twice[] = {1, 1};
  EXPECT_REFUSED(tpu_kernel_launch_sync_multi_cores(handle_, "identity", &param_, sizeof param_, beyond, 2),
                 BM_ERR_PARAM, "tpu_kernel_launch_sync_multi_cores",
                 "core_id " + std::to_string(has) + " is outside 0.." + std::to_string(has - 1));
  EXPECT_REFUSED(tpu_kernel_launch_sync_multi_cores(handle_, "identity", &param_, sizeof param_, twice, 2),
                 BM_ERR_FAILURE, "tpu_kernel_launch_sync_multi_cores", "the launch names core 1 twice");
  std::vector<int> more(static_cast<std::size_t>(has) + 1, 0);
  EXPECT_REFUSED(tpu_kernel_launch_sync_multi_cores(handle_, "identity", &param_, sizeof param_, more.data(), has + 1),
                 BM_ERR_FAILURE, "tpu_kernel_launch_sync_multi_cores",
                 "asks for " + std::to_string(has + 1) + " workitems from core 0 on, and chip");
  const tpu_kernel_module_t other = tpu_kernel_load_module_file(handle_, SOFTTPU_OTHER_PROGRAM);
  tpu_launch_param_t list[2] = {{0, tpu_kernel_get_function(handle_, module_, "identity"), &param_, sizeof param_},
                                {1, tpu_kernel_get_function(handle_, other, "elsewhere"), nullptr, 0}};
  ASSERT_EQ(tpu_kernel_launch_async_multicores(handle_, list, 2), BM_SUCCESS);
  EXPECT_REFUSED(tpu_kernel_sync(handle_), BM_ERR_FAILURE, "tpu_kernel_sync",
                 "mixes programs: \"identity\" and \"elsewhere\" are of different modules");
  EXPECT_EQ(words()[10], 0) << "nothing ran";
  EXPECT_EQ(launch("meet", 2, 0), BM_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(On, Cores, ::testing::Values(2, 8), ::testing::PrintToStringParamName());

}  // namespace
}  // namespace softtpu::host_test
