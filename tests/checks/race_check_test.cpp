#include "device/checks/race_check.hpp"

#include <gmock/gmock.h>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu {
namespace {

const dim4 kShape = {1, 64, 2, 16};

class RaceCheck : public ::testing::Test {
 protected:
  RaceCheck() { device_.core().add_observer(make_race_check(findings_)); }

  const std::vector<ReportedFinding>& run(const std::function<void()>& kernel) {
    const LaunchOutcome outcome = device_.run(kernel);
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return findings_->all();
  }

  TestDevice device_;
  std::shared_ptr<Findings> findings_ = std::make_shared<Findings>(100);
};

TEST_F(RaceCheck, ReportsAReadOfBytesThatAnotherEngineWrites) {
  const auto& found = run([this] {
    tpu_parallel_start();
    tpu_gdma_cpy_S2L(0x400, device_.scratch(), &kShape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_add(0x800, 0x400, 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_parallel_end();
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "race/raw");
  EXPECT_THAT(found[0].what,
              ::testing::HasSubstr(
                  "GDMA and BDC touch the same bytes in one parallel section: NPU 0, bank 0, offset 0x400..0x47f"));
  EXPECT_THAT(found[0].parties[1].text, ::testing::HasSubstr("tpu_bdc_fp_add reads src0"));
}

TEST_F(RaceCheck, ReportsOverwritingWhatAnotherEngineReads) {
  const auto& found = run([this] {
    tpu_parallel_start();
    tpu_gdma_cpy_L2S(device_.scratch(), 0x400, &kShape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_add(0x440, 0x800, 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_parallel_end();
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "race/war");
  EXPECT_THAT(found[0].parties[0].text, ::testing::HasSubstr("element [0, 0, 1, 0]"));
}

TEST_F(RaceCheck, ReportsTwoWriters) {
  const auto& found = run([this] {
    tpu_parallel_start();
    tpu_gdma_cpy_S2L(0x400, device_.scratch(), &kShape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_add(0x400, 0x800, 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_parallel_end();
  });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rule, "race/waw");
}

TEST_F(RaceCheck, FindsOverlapThroughTheSystemWindowOfLocalMemory) {
  const auto& found = run([this] {
    tpu_parallel_start();
    const dim4 line = {1, 1, 1, 16};
    tpu_gdma_cpy_S2S(device_.chip().local_mem.start + 0x400, device_.scratch(), &line, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_add(0x800, 0x400, 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_parallel_end();
  });
  ASSERT_EQ(found.size(), 1U);
}

TEST_F(RaceCheck, IsSilentOnDoubleBufferingAndOutsideSections) {
  const auto& found = run([this] {
    tpu_gdma_cpy_S2L(0x400, device_.scratch(), &kShape, nullptr, nullptr, DT_FP32);
    for (int i = 0; i < 4; ++i) {
      const unsigned even = i % 2 == 0 ? 0x0 : 0x1000;
      const unsigned odd = i % 2 == 0 ? 0x1000 : 0x0;
      tpu_parallel_start();
      tpu_gdma_cpy_S2L(odd + 0x400, device_.scratch(), &kShape, nullptr, nullptr, DT_FP32);
      tpu_bdc_fp_add(even + 0x800, even + 0x400, even + 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
      tpu_bdc_fp_add(even + 0x800, even + 0x800, even + 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
      tpu_parallel_end();
    }
    tpu_gdma_cpy_L2S(device_.scratch(), 0x800, &kShape, nullptr, nullptr, DT_FP32);
  });
  EXPECT_TRUE(found.empty()) << found[0].what;
}

TEST_F(RaceCheck, FoldsTheSamePairOfCalls) {
  const auto& found = run([this] {
    for (int i = 0; i < 5; ++i) {
      tpu_parallel_start();
      tpu_gdma_cpy_S2L(0x400, device_.scratch(), &kShape, nullptr, nullptr, DT_FP32);
      tpu_bdc_fp_add(0x800, 0x400, 0xC00, &kShape, nullptr, nullptr, nullptr, DT_FP32);
      tpu_parallel_end();
    }
  });
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(findings_->count(), 5U);
}

}  // namespace
}  // namespace softtpu
