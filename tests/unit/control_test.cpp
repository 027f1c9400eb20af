// Command counters, messages, questions about the core, printing and dumping.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/move_fixture.hpp"

namespace softtpu {
namespace {

class ControlTest : public MoveTest {};

struct Node {
  std::uint32_t bdc, gdma, parallel;
};

TEST_F(ControlTest, CountersFollowTheEngines) {
  const dim4 shape{1, 1, 1, 4};
  Node node{}, bdc{}, gdma{};
  expect_accepted(
      [&] {
        tpu_initialize();
        tpu_gdma_cpy_S2L(0, device.scratch(), &shape, nullptr, nullptr, DT_FP32);
        tpu_parallel_start();
        tpu_gdma_cpy_S2L(0, device.scratch(), &shape, nullptr, nullptr, DT_FP32);
        tpu_get_parallel_id_node(&bdc, &gdma);
        tpu_parallel_end();
        tpu_poll();
        tpu_get_id_node(&node);
      },
      "counters");
  EXPECT_EQ(bdc.gdma, 1U);
  EXPECT_EQ(gdma.gdma, 2U);
  EXPECT_EQ(node.gdma, 2U);
  EXPECT_EQ(node.parallel, 0U);
  expect_refused([] { tpu_get_id_node(nullptr); }, "tpu_get_id_node: node is NULL");
}

TEST_F(ControlTest, AMessageHasToBeSentBeforeItIsWaitedFor) {
  expect_accepted(
      [] {
        tpu_set_base_msg_id(10);
        const int id = tpu_next_msg_id();
        EXPECT_EQ(id, 10);
        tpu_gdma_send_msg(id, 1);
        tpu_bdc_send_msg(id, 1);
        tpu_hau_wait_msg(id, 2);
      },
      "messages");
  expect_refused([] { tpu_bdc_wait_msg(3, 1); }, "waits for message 3 to be sent 1 times, but it was sent 0 times");
}

TEST_F(ControlTest, OneCoreAnswersForAll) {
  expect_accepted(
      [] {
        EXPECT_EQ(tpu_core_num(), 1);
        EXPECT_EQ(tpu_core_index(), 0);
        EXPECT_EQ(tpu_workitem_num(), 1);
        EXPECT_EQ(tpu_workitem_index(), 0);
        EXPECT_EQ(tpu_group_num(), 1);
        EXPECT_EQ(tpu_cache_line_size(), 64);
        EXPECT_EQ(tpu_gdma_busy(), 0);
        tpu_sync_all();
        tpu_core_context_setup(0, 1, 4);
      },
      "questions");
  expect_refused([] { tpu_core_context_setup(1, 2, 4); }, "core 1 of 2 is not this core");
  expect_refused([&] { tpu_flush_cache(16, 64); }, "does not lie inside one memory");
}

TEST_F(ControlTest, LayoutQuestions) {
  const dim4 shape{2, 5, 3, 4};
  const dim5 deep{2, 3, 4, 5, 6};
  dim4 flat{};
  expect_accepted(
      [&] {
        EXPECT_EQ(tpu_get_local_cstride(3, 4, true, DT_FP32), 16);
        EXPECT_EQ(tpu_get_local_cstride(3, 4, false, DT_FP32), 12);
        EXPECT_EQ(tpu_get_local_nstride(16, 5, 2), 32);  // channels 2..6 of 4 NPUs: two on one NPU
        EXPECT_EQ(tpu_get_local_size(&shape, DT_FP32, 2, true), 2 * 32 * 4);
        EXPECT_EQ(tpu_eu_num(DT_INT4), 128);
        EXPECT_EQ(tpu_npu_c_offset(9, 16, DT_FP32), 2 * 16 * 4);
        EXPECT_EQ(tpu_unified_c_offset(9, 16, DT_FP32), 1024 + 2 * 16 * 4);
        tpu_local_shape_5d_to_4d(&deep, &flat);
      },
      "questions");
  EXPECT_EQ(flat.n, 8);
  EXPECT_EQ(flat.c, 3);
  expect_refused([&] { static_cast<void>(tpu_bank_range(0, 0)); }, "size (0) must be positive");
  expect_refused([&] { tpu_aligned_stride(nullptr, 0, &shape, DT_FP32); }, "stride is NULL");
  expect_refused([&] { static_cast<void>(tpu_aligned_feature_size(INT32_MAX, INT32_MAX, DT_FP32)); },
                 "does not fit into an int");
  expect_refused([&] { static_cast<void>(tpu_channle_num_per_npu(4, 1)); }, "start_idx (4) is outside 0..3");
}

TEST_F(ControlTest, PrintsAndDumpsValues) {
  const dim4 shape{1, 2, 1, 3};
  const float values[] = {1.5F, -2, 0.25F};
  std::memcpy(device.local<float>(3, 64), values, sizeof(values));
  std::memcpy(device.global<float>(device.scratch()), values, sizeof(values));
  ::testing::internal::CaptureStdout();
  const LaunchOutcome outcome = device.run([&] { tpu_print_local_mem_data(64, 3, &shape, nullptr, DT_FP32); });
  std::fflush(stdout);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(outcome.ok) << outcome.text;
  // Channel 1 lies on NPU 0, one channel stride (64 bytes) further.
  EXPECT_NE(printed.find("[0, 0, 0] 1.5 -2 0.25\n[0, 1, 0] "), std::string::npos) << printed;

  const std::string file = (std::filesystem::temp_directory_path() / "softtpu_layer_dump.txt").string();
  const int dims[] = {3, 1};
  expect_accepted([&] { tpu_dump_global_layer_data(file.c_str(), device.scratch(), dims, 2, DT_FP32); }, "dump");
  std::ifstream stream(file);
  std::string lines((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(lines, "1.5\n-2\n0.25\n");
  std::filesystem::remove(file);
  expect_refused([&] { tpu_dump_global_layer_data("/nonexistent/x", device.scratch(), dims, 2, DT_FP32); },
                 "cannot be written");
}

}  // namespace
}  // namespace softtpu
