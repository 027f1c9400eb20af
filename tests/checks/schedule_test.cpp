// Other legal orders of a section's commands.
#include "device/core/schedule.hpp"

#include <gmock/gmock.h>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

const dim4 kRow = {1, 64, 1, 16};

// The order in which commands were executed.
struct Recorder : Observer {
  void after(Op op, const Command&) override { ops.emplace_back(info(op).name); }
  std::vector<std::string> ops;
};

class ScheduleOrder : public ::testing::Test {
 protected:
  ScheduleOrder() { device_.core().add_observer(recorder_); }

  std::vector<std::string> run(const std::string& order, const std::function<void()>& kernel) {
    auto schedule = Schedule::parse(order);
    EXPECT_TRUE(schedule) << schedule.error().text;
    device_.core().set_schedule(*std::move(schedule));
    recorder_->ops.clear();
    const LaunchOutcome outcome = device_.run(kernel);
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return recorder_->ops;
  }

  TestDevice device_;
  std::shared_ptr<Recorder> recorder_ = std::make_shared<Recorder>();
};

void load(std::uint32_t to, std::uint64_t from) { tpu_gdma_cpy_S2L(to, from, &kRow, nullptr, nullptr, DT_FP32); }
void add(std::uint32_t to) { tpu_bdc_fp_add(to, 0, 0, &kRow, nullptr, nullptr, nullptr, DT_FP32); }

TEST_F(ScheduleOrder, LatePutsTheFirstEngineLast) {
  const auto kernel = [this] {
    tpu_parallel_start();
    load(0x4000, device_.scratch());
    add(0x8000);
    load(0xC000, device_.scratch());
    tpu_parallel_end();
    add(0x8000);
  };
  EXPECT_THAT(run("program", kernel), ::testing::ElementsAre("tpu_parallel_start", "tpu_gdma_cpy_S2L", "tpu_bdc_fp_add",
                                                             "tpu_gdma_cpy_S2L", "tpu_parallel_end", "tpu_bdc_fp_add"));
  EXPECT_THAT(run("late", kernel), ::testing::ElementsAre("tpu_parallel_start", "tpu_bdc_fp_add", "tpu_gdma_cpy_S2L",
                                                          "tpu_gdma_cpy_S2L", "tpu_parallel_end", "tpu_bdc_fp_add"));
}

TEST_F(ScheduleOrder, KeepsTheOrderOfMessages) {
  const auto kernel = [this] {
    tpu_parallel_start();
    load(0x4000, device_.scratch());
    const int loaded = tpu_next_msg_id();
    tpu_gdma_send_msg(loaded, 1);
    tpu_bdc_wait_msg(loaded, 1);
    add(0x8000);
    tpu_parallel_end();
  };
  for (const char* order : {"late", "random:1", "random:2", "random:3"}) {
    EXPECT_THAT(run(order, kernel),
                ::testing::ElementsAre("tpu_parallel_start", "tpu_gdma_cpy_S2L", "tpu_gdma_send_msg",
                                       "tpu_bdc_wait_msg", "tpu_bdc_fp_add", "tpu_parallel_end"))
        << order;
  }
}

TEST_F(ScheduleOrder, TheSameSeedGivesTheSameOrder) {
  const auto kernel = [this] {
    tpu_parallel_start();
    for (std::uint32_t i = 0; i < 8; ++i) {
      load(0x4000 + i * 64, device_.scratch());
      add(0x8000 + i * 64);
    }
    tpu_parallel_end();
  };
  std::set<std::vector<std::string>> orders;
  for (int seed = 1; seed <= 8; ++seed) {
    const std::string order = "random:" + std::to_string(seed);
    const auto once = run(order, kernel);
    EXPECT_EQ(run(order, kernel), once);
    orders.insert(once);
  }
  EXPECT_GT(orders.size(), 4U);
}

TEST_F(ScheduleOrder, WaitsDrainTheSection) {
  const auto kernel = [this] {
    tpu_parallel_start();
    load(0x4000, device_.scratch());
    add(0x8000);
    tpu_sync_all();
    load(0xC000, device_.scratch());
    tpu_parallel_end();
  };
  EXPECT_THAT(run("late", kernel), ::testing::ElementsAre("tpu_parallel_start", "tpu_bdc_fp_add", "tpu_gdma_cpy_S2L",
                                                          "tpu_sync_all", "tpu_gdma_cpy_S2L", "tpu_parallel_end"));
}

TEST_F(ScheduleOrder, ChangesWhatARaceComputes) {
  float* input = device_.global<float>(device_.scratch());
  for (int i = 0; i < 1024; ++i) input[i] = 3.0F;
  const auto kernel = [this] {
    tpu_bdc_set_C(0, scalar_t{.f32 = 1.0F}, &kRow, nullptr, DT_FP32);
    tpu_parallel_start();
    load(0, device_.scratch());
    add(0x8000);
    tpu_parallel_end();
  };
  run("program", kernel);
  EXPECT_EQ(*device_.local<float>(5, 0x8000), 6.0F);
  run("late", kernel);
  EXPECT_EQ(*device_.local<float>(5, 0x8000), 2.0F);
}

TEST(ScheduleText, RefusesOtherWords) {
  for (const char* text : {"early", "random", "random:", "random:x", "late "}) {
    const auto schedule = Schedule::parse(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_THAT(schedule.error().text, ::testing::HasSubstr("program, late, random:NUMBER"));
  }
}

}  // namespace
}  // namespace softtpu
