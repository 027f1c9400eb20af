// Command counters, messages, questions about the core, printing and dumping.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "device/isa/op_names.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "tests/reference/chip_float.hpp"
#include "tests/reference/elementwise.hpp"
#include "tests/unit/move_fixture.hpp"

namespace softtpu::control_test {
namespace {

class ControlTest : public MoveTest {};

struct Node {
  std::uint32_t bdc, gdma, parallel;
  bool operator==(const Node&) const = default;
};

// Random sections of BDC and GDMA commands: the counts, and what setting them changes.
TEST_F(ControlTest, CountersFollowTheEngines) {
  const dim4 shape{1, 1, 1, 4};
  const auto run = [&](int bdc, int gdma) {
    for (int i = 0; i < bdc; ++i) tpu_bdc_cpy(128, 64, &shape, nullptr, nullptr, DT_FP32);
    for (int i = 0; i < gdma; ++i) tpu_gdma_cpy_S2L(0, device.scratch(), &shape, nullptr, nullptr, DT_FP32);
  };
  for (int trial = 0; trial < 40; ++trial) {
    const int before = between(0, 4), loads = between(0, 4), computes = between(0, 4), base = between(0, 1000);
    Node node{}, bdc{}, gdma{}, cleared{}, restored{}, set{}, moved_bdc{}, moved_gdma{};
    bool states[3] = {};
    const LaunchOutcome outcome = device.run([&] {
      coin() ? tpu_initialize() : tpu_initialize_parallel();
      tpu_disable_check_id_node();
      tpu_enable_check_id_node();
      run(before, before);
      states[0] = tpu_is_parallel_state();
      tpu_parallel_start();
      states[1] = tpu_is_parallel_state();
      run(computes, loads);
      tpu_get_parallel_id_node(&bdc, &gdma);
      tpu_set_parallel_id_node(&gdma, &bdc);
      tpu_get_parallel_id_node(&moved_bdc, &moved_gdma);
      tpu_set_parallel_id_node(&bdc, &gdma);
      tpu_parallel_end();
      states[2] = tpu_is_parallel_state();
      tpu_poll();
      tpu_get_id_node(&node);
      tpu_initialize();
      tpu_get_id_node(&cleared);
      tpu_set_id_node(&node);
      tpu_get_id_node(&restored);
      tpu_set_bdid(base);
      tpu_set_gdma_id(base + 1);
      tpu_get_id_node(&set);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    device.oracle().forget();
    const auto count = [](int value) { return static_cast<std::uint32_t>(value); };
    EXPECT_EQ(bdc, (Node{count(before + computes), count(before), 0}));
    EXPECT_EQ(gdma, (Node{count(before), count(before + loads), 0}));
    EXPECT_EQ(moved_bdc, gdma);
    EXPECT_EQ(moved_gdma, bdc);
    EXPECT_EQ(node, (Node{count(before + computes), count(before + loads), 0}));
    EXPECT_EQ(cleared, Node{});
    EXPECT_EQ(restored, node);
    EXPECT_EQ(set, (Node{count(base), count(base + 1), 0}));
    EXPECT_FALSE(states[0] || states[2]);
    EXPECT_TRUE(states[1]);
    if (HasFailure()) return;
    for (const Op op : {Op::tpu_initialize, Op::tpu_initialize_parallel, Op::tpu_poll, Op::tpu_parallel_start,
                        Op::tpu_parallel_end, Op::tpu_is_parallel_state, Op::tpu_get_id_node, Op::tpu_set_id_node,
                        Op::tpu_get_parallel_id_node, Op::tpu_set_parallel_id_node, Op::tpu_enable_check_id_node,
                        Op::tpu_disable_check_id_node, Op::tpu_set_bdid, Op::tpu_set_gdma_id})
      device.oracle().confirm(op);
  }
  expect_refused([] { tpu_get_id_node(nullptr); }, "tpu_get_id_node: node is NULL");
  expect_refused([] { tpu_parallel_end(); }, "no parallel section is open");
  expect_refused(
      [] {
        tpu_parallel_start();
        tpu_poll();
      },
      "a parallel section is open; end it before polling");
}

// Commands are complete when their call returns: no wait changes what the next command finds.
TEST_F(ControlTest, WaitingChangesNothing) {
  using Wait = void (*)();
  constexpr Wait kWaits[] = {tpu_poll_empty,    tpu_poll_parallel, tpu_sync_all,   tpu_sync_all_bdc,
                             tpu_sync_all_gdma, tpu_sync_all_hau,  tpu_sync_core,  tpu_sync_core_innner,
                             tpu_sync_finish,   tpu_hau_poll,      tpu_initialize, tpu_poll};
  const dim4 shape{1, 1, 1, 4};
  for (int trial = 0; trial < 240; ++trial) {
    scramble();
    const bool parallel = coin() && trial % 12 < 10;
    expect_accepted(
        [&] {
          if (parallel) tpu_parallel_start();
          tpu_gdma_cpy_S2L(0, device.scratch(), &shape, nullptr, nullptr, DT_FP32);
          kWaits[trial % 12]();
          tpu_gdma_cpy_L2S(device.scratch(64), 0, &shape, nullptr, nullptr, DT_FP32);
        },
        "waiting");
    std::memcpy(model.local.data(), model.global.data(), 16);
    std::memcpy(model.global.data() + 64, model.global.data(), 16);
    expect_equal("waiting");
    if (HasFatalFailure()) return;
  }
}

TEST_F(ControlTest, AMessageHasToBeSentBeforeItIsWaitedFor) {
  constexpr auto kSends = std::array{tpu_bdc_send_msg, tpu_gdma_send_msg, tpu_hau_send_msg};
  constexpr auto kWaits = std::array{tpu_bdc_wait_msg, tpu_gdma_wait_msg, tpu_hau_wait_msg};
  for (int trial = 0; trial < 60; ++trial) {
    const int base = between(0, 400), sends = between(1, 3), waits = between(1, 3);
    const bool early = coin();
    int ids[3] = {};
    scramble();
    const LaunchOutcome outcome = device.run([&] {
      tpu_set_base_msg_id(base);
      ids[0] = tpu_next_msg_id();
      ids[1] = tpu_next_msg_id();
      for (int i = 0; i < sends - (early ? 1 : 0); ++i) kSends[static_cast<std::size_t>(i)](ids[1], waits);
      for (int i = 0; i < waits; ++i) kWaits[static_cast<std::size_t>(i)](ids[1], sends);
      ids[2] = tpu_next_msg_id();
      EXPECT_EQ(tpu_get_local_msg_id(), base);
      EXPECT_EQ(tpu_get_global_msg_id(), base);
      EXPECT_EQ(tpu_get_core_sync_msg_id(), base);
      tpu_core_context_setup(0, 1, base + 7);
      EXPECT_EQ(tpu_get_local_msg_id(), base + 7);
    });
    EXPECT_EQ(outcome.ok, !early) << outcome.text;
    EXPECT_EQ(std::vector<int>(ids, ids + 2), (std::vector<int>{base, base + 1}));
    if (early) {
      EXPECT_NE(outcome.text.find("to be sent " + std::to_string(sends) + " times, but it was sent " +
                                  std::to_string(sends - 1) + " times"),
                std::string::npos)
          << outcome.text;
      continue;
    }
    if (HasFailure()) return;
    EXPECT_EQ(ids[2], base + 2);
    device.oracle().confirm();
    for (const Op op : {Op::tpu_set_base_msg_id, Op::tpu_next_msg_id, Op::tpu_get_local_msg_id,
                        Op::tpu_get_global_msg_id, Op::tpu_get_core_sync_msg_id, Op::tpu_core_context_setup})
      device.oracle().confirm(op);
  }
  expect_refused([] { tpu_bdc_wait_msg(3, 1); }, "waits for message 3 to be sent 1 times, but it was sent 0 times");
  expect_refused([] { tpu_bdc_send_msg(-1, 1); }, "msg_id (-1) is negative");
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

// One number as the kernel's printing functions write it.
std::string number_text(std::uint32_t bits, Dtype type) {
  const double value = is_float(type) ? reference::value_of(bits, type) : 0;
  if (std::isnan(value)) return bits >> (8 * size_of(type) - 1) != 0 ? "-nan" : "nan";
  if (is_float(type)) return fmt::format("{}", static_cast<float>(value));
  return fmt::format("{}", reference::int_value(bits, type));
}

TEST_F(ControlTest, PrintsTensorsRowByRow) {
  for (int trial = 0; trial < 40; ++trial) {
    const reference::Extents shape{between(1, 2), between(1, 6), between(1, 2), between(1, 5)};
    const int size = element_size(), first = npu();
    const data_type_t type = type_of_size(size);
    const reference::Array data{true, unified(first, 64), size, reference::aligned(device.chip(), first, shape, size)};
    scramble();
    std::string wanted;
    reference::each(shape, [&](const reference::Extents& at) {
      if (at[3] == 0) wanted += fmt::format("[{}, {}, {}]", at[0], at[1], at[2]);
      wanted += " " + number_text(reference::load(model, data, at), static_cast<Dtype>(type));
      if (at[3] == shape[3] - 1) wanted += "\n";
    });
    const dim4 extent = to_dim4(shape);
    ::testing::internal::CaptureStdout();
    const LaunchOutcome outcome = device.run([&] { tpu_print_local_mem_data(64, first, &extent, nullptr, type); });
    std::fflush(stdout);
    const std::string printed = ::testing::internal::GetCapturedStdout();
    ASSERT_TRUE(outcome.ok) << outcome.text;
    ASSERT_EQ(printed, wanted);
    device.oracle().confirm(Op::tpu_print_local_mem_data);
  }
}

TEST_F(ControlTest, DumpsALayerOneElementALine) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("softtpu_layer_dump_" + std::to_string(::getpid()))).string();
  for (int trial = 0; trial < 40; ++trial) {
    const int shape[] = {between(1, 4), between(1, 5), between(1, 3)};
    const int dims = between(1, 3), size = element_size();
    const data_type_t type = type_of_size(size);
    scramble();
    int count = 1;
    for (int i = 0; i < dims; ++i) count *= shape[i];
    std::string wanted;
    for (int i = 0; i < count; ++i) {
      const reference::Array data{false, device.scratch(), size, {0, 0, 0, 1}};
      wanted += number_text(reference::load(model, data, {0, 0, 0, i}), static_cast<Dtype>(type)) + "\n";
    }
    expect_accepted([&] { tpu_dump_global_layer_data(file.c_str(), device.scratch(), shape, dims, type); }, "dump");
    std::ifstream stream(file);
    const std::string lines((std::istreambuf_iterator<char>(stream)), {});
    ASSERT_EQ(lines, wanted);
    device.oracle().confirm(Op::tpu_dump_global_layer_data);
  }
  std::filesystem::remove(file);
  const int one[] = {1};
  expect_refused([&] { tpu_dump_global_layer_data("/nonexistent/x", device.scratch(), one, 1, DT_FP32); },
                 "cannot be written");
}

void first_kernel(const void*) {}
void second_kernel(const void*) {}

TEST_F(ControlTest, RegistrationKeepsTheFirstFunctionOfAName) {
  tpu_register_kernel_func("control_test_kernel", first_kernel);
  tpu_register_kernel_func("control_test_kernel", second_kernel);
  EXPECT_EQ(kernel_registry().find(KernelRegistry::kProgram, "control_test_kernel"), first_kernel);
  ::testing::internal::CaptureStderr();
  tpu_register_kernel_func(nullptr, first_kernel);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("tpu_register_kernel_func: the name is NULL"),
            std::string::npos);
  ::testing::internal::CaptureStdout();
  tpu_dump_registered_kernel_funcs();
  __print_trace();
  std::fflush(stdout);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("control_test_kernel"), std::string::npos) << printed;
  EXPECT_NE(printed.find(" 0# "), std::string::npos) << "no backtrace: " << printed;
  for (const Op op : {Op::tpu_register_kernel_func, Op::tpu_dump_registered_kernel_funcs, Op::__print_trace})
    device.oracle().confirm(op);
}

// One core waits only for itself and has its locks to itself.
TEST(Control, MeetingsAndLocksOfOneCoreReturnAtOnce) {
  TestDevice device("bm1684x");
  for (const int number : {4, 5, 17, 40}) {
    const LaunchOutcome outcome = device.run([&] {
      tpu_sync_all_with_msg_id(number);
      tpu_core_barrier(number, 1);
      tpu_acquire_lock(number % 8);
      tpu_release_lock(number % 8);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
  }
}

// Rows of 0, 1, 2 ... of 64 elements or more, at any address of any NPU.
TEST(Control, GeneratedSequencesAreCountedFromZero) {
  TestDevice device("bm1684x");
  for (const int num : {1, 63, 64, 65, 200, 1000}) {
    for (const local_addr_t place : {0U, 64U, 0x2000U})
      for (const data_type_t type : {DT_UINT32, DT_UINT16}) {
        const local_addr_t addr = 0x1000U + static_cast<local_addr_t>(num % 3) * 0x40000U + place;
        const LaunchOutcome outcome = device.run([&] { tpu_bdc_generate_arithmetic_sequence(addr, num, type); });
        ASSERT_TRUE(outcome.ok) << outcome.text;
        const std::uint8_t* row = device.memories().local(num % 3) + addr % 0x40000U;
        const int size = type == DT_UINT32 ? 4 : 2;
        for (int i = 0; i < std::max(num, 64); ++i) {
          std::uint32_t value = 0;
          std::memcpy(&value, row + i * size, static_cast<std::size_t>(size));
          ASSERT_EQ(value, static_cast<std::uint32_t>(i)) << num;
        }
      }
  }
}

}  // namespace
}  // namespace softtpu::control_test
