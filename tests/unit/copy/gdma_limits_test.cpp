// What GDMA refuses; large copies with one thread and with many.
#include "tests/unit/move_fixture.hpp"

namespace softtpu::gdma_limits_test {
namespace {

class GdmaLimits : public MoveTest {};

TEST_F(GdmaLimits, RefusesAndChangesNothing) {
  const dim4 shape{1, 2, 3, 4};
  const std::uint64_t global = device.scratch();
  const auto cpy = [&](local_addr_t dst, system_addr_t src, dim4 extent, const dim4* ds, const dim4* ss,
                       data_type_t type) { return [=] { tpu_gdma_cpy_S2L(dst, src, &extent, ds, ss, type); }; };
  const dim4 wide{64, 32, 33, 33};
  const dim4 standing{12, 12, 4, 0};
  const dim4 negative{-12, 12, 4, 1};
  expect_refused([&] { tpu_gdma_cpy_S2L(0, global, nullptr, nullptr, nullptr, DT_FP32); },
                 "tpu_gdma_cpy_S2L: shape is NULL");
  expect_refused(cpy(0, global, {0, 1, 1, 1}, nullptr, nullptr, DT_FP32), "shape.n (0) is outside 1..2147483647");
  expect_refused(cpy(0, global, {1, 1, 1, 65536}, nullptr, nullptr, DT_INT8), "ends at offset 65536 of an NPU's");
  expect_refused(cpy(0, global, {65535, 65535, 65535, 65535}, &shape, nullptr, DT_INT8), "more elements than");
  expect_refused(cpy(2, global, shape, nullptr, nullptr, DT_FP32),
                 "dst address (0x2) is not a multiple of the element size (4)");
  expect_refused(cpy(0, global + 1, shape, nullptr, nullptr, DT_FP16), "is not a multiple of the element size (2)");
  expect_refused(cpy(0, 0, shape, nullptr, nullptr, DT_FP32), "does not lie inside one memory");
  expect_refused(cpy(0, device.chip().static_mem.start, shape, nullptr, nullptr, DT_FP32),
                 "does not lie inside one memory");
  expect_refused(cpy(1020, global, shape, nullptr, nullptr, DT_FP32), "of an NPU's local memory (1024 bytes)");
  expect_refused(cpy(4096, global, shape, nullptr, nullptr, DT_FP32), "lies beyond local memory");
  expect_refused(cpy(0, global, shape, nullptr, &wide, DT_FP32), "src w stride (33 elements, 132 bytes)");
  expect_refused(cpy(0, global, shape, &standing, nullptr, DT_FP32), "dst w stride (0 elements, 0 bytes)");
  expect_refused(cpy(0, global, shape, nullptr, &negative, DT_FP32), "negative stride");
  expect_refused(cpy(0, global, shape, nullptr, nullptr, DT_INT4), "tpu_gdma_cpy_S2L: dst type is int4");
  expect_refused(cpy(0, global, shape, nullptr, nullptr, static_cast<data_type_t>(40)), "is not a data type");
  expect_refused([&] { tpu_gdma_cpy_cw_trans_S2L(0, global, &shape, nullptr, &wide, DT_FP32); },
                 "src w stride (33) must be 1");
  expect_refused([&] { tpu_gdma_channel_bcast_S2L(1024, global, &wide, nullptr, nullptr, DT_INT8); },
                 "is above the number of NPUs (4)");
  expect_refused([&] { tpu_gdma_reverse_L2L(0, 0, &shape, nullptr, nullptr, 4, DT_INT8); },
                 "reverse_axis (4) is outside 0..3");
  const dim4 six{1, 1, 2, 3};
  const dim4 eight{1, 1, 2, 4};
  expect_refused([&] { tpu_gdma_general_cpy_S2L(0, global, &six, &eight, nullptr, nullptr, DT_INT8); },
                 "differ in their number of elements (6 and 8)");
  expect_refused([&] { tpu_gdma_system_bcast(global, global + 64, 4, 4, DT_FP32); }, "is outside local memory");
  expect_refused([&] { tpu_gdma_matrix_S2L(0, global, 2, 3, 0, 3, DT_FP32); },
                 "columns per channel (0) must be positive");
  expect_refused([&] { tpu_gdma_matrix_L2S(global, 0, 2, 3, 3, 2, DT_FP32); },
                 "row stride (2) is below the columns of a row (3)");
  expect_refused([&] { tpu_gdma_vector_S2L(0, global, 0, 4, DT_FP32); }, "cols (0) is outside 1..65535");
  expect_refused([&] { tpu_gdma_system_cpy(global, global + 64, 0, DT_FP32); }, "count (0) is outside 1..2147483647");
  expect_refused([&] { tpu_gdma_system_cpy(global, global + 64, 0xFFFFFFFFU, DT_INT8); },
                 "count (4294967295) is outside 1..2147483647");
}

// The newer emulator of the chip cuts such copies into pieces; a local memory of this chip holds the row.
TEST(GdmaExtents, CopiesAndFillsGoBeyond65535Columns) {
  TestDevice device("bm1684x");
  const dim4 row = {1, 1, 1, 100000};
  const std::uint64_t from = device.scratch(), to = device.scratch(1 << 20);
  auto* source = device.global<std::uint8_t>(from);
  for (int i = 0; i < row.w; ++i) source[i] = static_cast<std::uint8_t>(i % 253);
  const LaunchOutcome copied = device.run([&] {
    tpu_gdma_cpy_S2L(0, from, &row, nullptr, nullptr, DT_UINT8);
    tpu_gdma_cpy_L2S(to, 0, &row, nullptr, nullptr, DT_UINT8);
  });
  ASSERT_TRUE(copied.ok) << copied.text;
  EXPECT_EQ(std::memcmp(source, device.global<std::uint8_t>(to), static_cast<std::size_t>(row.w)), 0);
}

// An arange of int64: the low words from local memory, every second word of the result; the high words are zero.
TEST(GdmaExtents, StoreAnInt64SequenceOfMoreThan65535Columns) {
  TestDevice device;
  constexpr int kPerNpu = 1100, kColumns = 64 * kPerNpu;
  const std::uint64_t out = device.scratch();
  std::memset(device.global<std::uint8_t>(out), 0xA5, 8 * kColumns);
  const LaunchOutcome outcome = device.run([&] {
    const dim4 words = {1, 1, 1, 2 * kColumns};
    const dim4 rows = {1, 64, 1, kPerNpu};
    const dim4 apart = {2 * kColumns, 2 * kPerNpu, 2 * kPerNpu, 2};
    tpu_gdma_set_C_system(out, {.u32 = 0}, &words, nullptr, DT_INT32);
    tpu_bdc_arithmetic_sequence_general(0, 0x8000, 64, 5, 3, kPerNpu);
    tpu_gdma_cpy_L2S(out, 0, &rows, &apart, nullptr, DT_INT32);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const auto* numbers = device.global<std::int64_t>(out);
  for (int i = 0; i < kColumns; ++i) ASSERT_EQ(numbers[i], 5 + 3 * std::int64_t{i}) << i;
}

// Each channel's rows begin in what the channel before it writes.
TEST(GdmaOrder, AGatherIntoItsOwnSourceStaysInOrderWhenEverythingIsShared) {
  TestDevice device;
  constexpr std::size_t kWords = 64 * 64 + 1;
  const dim4 shape = {1, 64, 1, 64};
  const std::uint64_t param = device.scratch(), index = device.scratch(1 << 20);
  auto* words = device.global<std::uint32_t>(param);
  std::memset(device.global<std::uint8_t>(index), 0, 4 * 64);
  const auto gathered = [&](std::int64_t threshold) {
    for (std::size_t i = 0; i < kWords; ++i) words[i] = static_cast<std::uint32_t>(i);
    set_parallel_threshold(threshold);
    const LaunchOutcome outcome = device.run([&] {
      tpu_gdma_h_gather_S2S(param + 4, param, index, false, scalar_t{}, &shape, 1, nullptr, nullptr, nullptr,
                            DT_UINT32);
    });
    set_parallel_threshold(kParallelSteps);
    EXPECT_TRUE(outcome.ok) << outcome.text;
    return std::vector<std::uint32_t>(words, words + kWords);
  };
  const auto alone = gathered(kParallelSteps);
  for (int again = 0; again < 20; ++again) ASSERT_EQ(gathered(0), alone);
}

class GdmaThreadTest : public MoveTest {
 protected:
  GdmaThreadTest() : MoveTest("bm1684x") {}
  void TearDown() override { set_thread_limit(0); }
};

// Large enough for several threads: the same bytes with one.
TEST_F(GdmaThreadTest, OneThreadGivesTheBytesOfMany) {
  const dim4 shape{2, 100, 40, 61};
  const dim4 swapped{100, 2, 40, 61};
  const dim4 repeated{100 * 40 * 61, 40 * 61, 0, 1};
  const std::uint64_t from = device.scratch();
  const std::uint64_t to = device.scratch(8 << 20);
  const std::size_t bytes = std::size_t{2} * 100 * 40 * 61 * 4;
  for (std::size_t i = 0; i < bytes; i += 4)
    *device.global<std::uint32_t>(from + i) = static_cast<std::uint32_t>(random());
  const auto results = [&](int threads) {
    set_thread_limit(threads);
    const LaunchOutcome outcome = device.run([&] {
      tpu_gdma_cpy_S2L(0, from, &shape, nullptr, &repeated, DT_FP16);
      tpu_gdma_cpy_nc_trans_L2S(to, 0, &swapped, nullptr, nullptr, DT_FP16);
      tpu_gdma_cpy_S2S(to + bytes, from, &shape, nullptr, nullptr, DT_FP32);
      tpu_gdma_cpy_cw_trans_S2S(to + 2 * bytes, from, &shape, nullptr, nullptr, DT_FP32);
      tpu_gdma_matrix_trans_L2S(to + 3 * bytes, 0, 200, 4000, 61, 200, DT_FP16);
    });
    EXPECT_TRUE(outcome.ok) << outcome.text;
    std::vector<std::uint8_t> result = device.local_bytes();
    const std::uint8_t* global = device.global<std::uint8_t>(to);
    result.insert(result.end(), global, global + 4 * bytes);
    std::fill_n(device.global<std::uint8_t>(to), 4 * bytes, std::uint8_t{0});
    return result;
  };
  EXPECT_TRUE(results(1) == results(0));
}

}  // namespace
}  // namespace softtpu::gdma_limits_test
