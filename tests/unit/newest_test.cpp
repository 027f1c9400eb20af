// Functions of the newest headers that are made of older ones, and the vendor's checks of memory.
#include <cmath>
#include <cstring>
#include <random>

#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::newest_test {
namespace {

class Newest : public ::testing::Test {
 protected:
  // Both ways leave the same bytes in local memory, which begins as 0xA5.
  void expect_same(const std::function<void()>& newer, const std::function<void()>& older, const char* what) {
    reference::Image left[2];
    for (const bool is_newer : {true, false}) {
      TestDevice device;
      static const auto background = reference::Background::filled(device.chip().local_mem.bytes, 0xA5);
      device.begin_with(background);
      const LaunchOutcome outcome = device.run(is_newer ? newer : older);
      ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
      left[is_newer ? 0 : 1] = device.local_image();
    }
    EXPECT_TRUE(left[0] == left[1]) << what;
  }
};

TEST_F(Newest, SequencesOfTypesAreThoseOf32Bits) {
  for (const data_type_t type : {DT_INT32, DT_UINT32}) {
    expect_same([&] { tpu_bdc_arithmetic_sequence_bcast_with_dtype(0x400, 7, -5, 3, 41, type); },
                [] { tpu_bdc_arithmetic_sequence_bcast(0x400, 7, -5, 3, 41); }, "bcast");
    expect_same([&] { tpu_bdc_arithmetic_sequence_distribute_with_dtype(0x400, 2147483640, 3, 61, type); },
                [] { tpu_bdc_arithmetic_sequence_distribute(0x400, 2147483640, 3, 61); }, "distribute");
    expect_same([&] { tpu_bdc_arithmetic_sequence_distribute_aligned_with_dtype(0x400, 9, -7, 59, type); },
                [] { tpu_bdc_arithmetic_sequence_distribute_aligned(0x400, 9, -7, 59); }, "distribute_aligned");
    expect_same([&] { tpu_bdc_arithmetic_sequence_general_with_dtype(0x400, 0x8000, 9, 11, 2, 33, type); },
                [] { tpu_bdc_arithmetic_sequence_general(0x400, 0x8000, 9, 11, 2, 33); }, "general");
  }
  TestDevice device;
  device.expect_fault([] { tpu_bdc_arithmetic_sequence_bcast_with_dtype(0, 7, 1, 1, 5, DT_INT16); },
                      "tpu_bdc_arithmetic_sequence_bcast_with_dtype: dst type is int16");
}

TEST_F(Newest, PoolsOfBytesAndFloatsAreTheOlderOnes) {
  const dim4 shape = {1, 9, 7, 8};
  const dim2 kernel = {3, 2}, stride = {2, 1}, dilation = {1, 2}, insert = {1, 0};
  const padding_t padding = {1, 0, 1, 1};
  scalar_t pad{}, scale{};
  pad.s8 = -3;
  scale.f32 = 0.125F;
  for (const data_type_t type : {DT_INT8, DT_UINT8}) {
    const auto prepare = [&] { tpu_bdc_arithmetic_sequence_general(0, 0x8000, 9, 11, 1237, 56); };
    expect_same(
        [&] { prepare(), tpu_bdc_int_max_pool2d(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, type, pad); },
        [&] {
          prepare(), tpu_bdc_int8_max_pool2d(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, type, pad);
        },
        "max");
    expect_same(
        [&] { prepare(), tpu_bdc_int_min_pool2d(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, type, pad); },
        [&] {
          prepare(), tpu_bdc_int8_min_pool2d(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, type, pad);
        },
        "min");
  }
  scalar_t value{};
  value.f32 = 2.75F;
  const auto fill = [&] { tpu_bdc_set_C(0, value, &shape, nullptr, DT_FP32); };
  expect_same(
      [&] {
        fill(), tpu_bdc_fp_avg_pool2d_ex(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, &insert, DT_FP32,
                                         DT_FP32, scale);
      },
      [&] {
        fill(), tpu_bdc_fp_ins_avg_pool2d(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, &insert, DT_FP32,
                                          scale);
      },
      "average");
  TestDevice device;
  device.expect_fault(
      [&] {
        tpu_bdc_fp_avg_pool2d_ex(0x4000, 0, &shape, &kernel, &padding, &stride, &dilation, &insert, DT_FP32, DT_FP16,
                                 scale);
      },
      "tpu_bdc_fp_avg_pool2d_ex: out_dtype (fp16) is not in_dtype (fp32)");
}

// Through local memory alone, the elements come in the order in which both shapes name them.
TEST_F(Newest, ACopyBetweenShapesStaysInLocalMemory) {
  TestDevice device;
  const dim4 from = {2, 6, 1, 5}, to = {1, 4, 3, 5};
  const LaunchOutcome outcome = device.run([&] {
    tpu_bdc_arithmetic_sequence_general(0, 0x8000, 6, 100, 1, 5);
    tpu_bdc_arithmetic_sequence_general(64, 0x8000, 6, 200, 1, 5);
    tpu_gdma_general_cpy_L2L(0x4000, 0, &to, &from, nullptr, nullptr, DT_INT32);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  for (int i = 0; i < 60; ++i) {
    const int expected = (i < 30 ? 100 : 200) + i % 30;
    EXPECT_EQ(*(device.local<std::int32_t>(i / 15, 0x4000) + i % 15), expected) << i;
  }
}

// Columns of one vector of the EUs first, even and odd rows apart, then these columns in the same way.
TEST_F(Newest, MeansOfPlanesAreAddedInColumnsOfTheEus) {
  TestDevice device("bm1690");
  constexpr int kEu = 16;
  std::mt19937 random(23);
  const auto in = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  std::uniform_real_distribution<float> number(-4, 4);
  for (int trial = 0; trial < 40; ++trial) {
    const dim4 shape{in(1, 3), trial % 4 == 0 ? in(60, 70) : in(1, 9), in(1, 9), in(1, 12)};
    const int plane = shape.h * shape.w, rows = (plane + kEu - 1) / kEu, first = in(0, 63);
    const int groups = (first + shape.c + 63) / 64;
    const auto place = [&](std::uint32_t from) { return from + static_cast<std::uint32_t>(in(0, 40)) * 64; };
    const std::uint32_t src = place(0x1000), buffer = place(0x20000), dst = place(0x30000);
    const auto at = [&](std::uint32_t offset) {
      return static_cast<local_addr_t>(static_cast<std::uint32_t>(first) * device.chip().local_bytes + offset);
    };
    for (int npu = 0; npu < 64; ++npu)
      for (int i = 0; i < shape.n * groups * rows * kEu; ++i) device.local<float>(npu, src)[i] = number(random);
    std::vector<float> means;
    for (int n = 0; n < shape.n; ++n) {
      for (int c = first; c < first + shape.c; ++c) {
        const float* from = device.local<float>(c % 64, src) + (n * groups + c / 64) * rows * kEu;
        float sums[2] = {0, 0};
        for (int column = 0; column < kEu; ++column) {
          float parts[2] = {0, 0};
          for (int i = column; i < plane; i += kEu) parts[i / kEu % 2] += from[i];
          sums[column % 2] += (parts[0] + parts[1]) * (1.0F / static_cast<float>(plane));
        }
        means.push_back(sums[0] + sums[1]);
      }
    }
    const LaunchOutcome outcome =
        device.run([&] { tpu_bdc_fp_hw_reduce_mean(at(dst), at(src), at(buffer), &shape, DT_FP32); });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int i = 0; i < shape.n * shape.c; ++i) {
      const int n = i / shape.c, c = first + i % shape.c;
      ASSERT_EQ(*device.local<float>(c % 64, dst + static_cast<unsigned>((n * groups + c / 64) * 64)),
                means[static_cast<std::size_t>(i)])
          << shape.h << " x " << shape.w << ", plane " << i;
    }
    device.oracle().confirm();
  }
  const dim4 shape{1, 1, 2, 2};
  device.expect_fault([&] { tpu_bdc_fp_hw_reduce_mean(0x4000, 0, 0x8000, &shape, DT_INT32); },
                      "tpu_bdc_fp_hw_reduce_mean: dst type is int32");
  device.expect_fault([&] { tpu_bdc_fp_hw_reduce_mean(0x4004, 0, 0x8000, &shape, DT_FP32); },
                      "tpu_bdc_fp_hw_reduce_mean: output address");
}

TEST_F(Newest, NumbersAndStates) {
  TestDevice device;
  const LaunchOutcome outcome = device.run([] {
    int node[4] = {};
    tpu_set_bd_id(77);
    tpu_get_id_node(node);
    EXPECT_EQ(node[0], 77);
    tpu_set_base_msg_id(5);
    EXPECT_EQ(tpu_get_base_msg_id(), 5);
    EXPECT_FALSE(tpu_is_descriptor_mode());
    EXPECT_FALSE(tpu_is_cdma_busy());
    for (void (*const wait)() :
         {tpu_nop, tpu_poll_descriptor, tpu_bdc_poll, tpu_gdma_poll, tpu_sdma_poll, tpu_sr_setup, tpu_enable_pmu,
          tpu_disable_pmu, tpu_vsdma_initialize, tpu_cdma_all_port_nop, tpu_sync_core_with_external_engine})
      wait();
    tpu_vsdma_port_initialize(3), tpu_vsdma_port_poll(3), tpu_cdma_nop(2);
  });
  EXPECT_TRUE(outcome.ok) << outcome.text;
}

class MemoryQuestions : public ::testing::Test {
 protected:
  void expect_fine(const std::function<void()>& calls) {
    const LaunchOutcome outcome = device_.run(calls);
    EXPECT_TRUE(outcome.ok) << outcome.text;
  }
  TestDevice device_;
  const std::uint64_t global_ = device_.chip().global_mem.start + device_.chip().global_reserved;
};

TEST_F(MemoryQuestions, KnowWhereMemoriesEnd) {
  const std::uint64_t end = device_.chip().global_mem.start + device_.chip().global_mem.bytes;
  const dim4 shape = {2, 3, 4, 5};
  expect_fine([&] {
    tpu_mem_check_range(global_, 4096, 1);
    tpu_mem_check_range(end - 16, 16, 0);
    tpu_mem_check_range(tpu_l2_sram_get_start_addr(), 64, 1);
    tpu_mem_check_tensor(global_, &shape, nullptr, DT_FP16, 0);
    tpu_mem_check_matrix(global_, 7, 9, 11, DT_INT8, 1);
  });
  device_.expect_fault([&] { tpu_mem_check_range(end - 16, 17, 0); }, "tpu_mem_check_range: [0x");
  device_.expect_fault([&] { tpu_mem_check_range(global_, 0, 0); }, "tpu_mem_check_range: the range has no bytes");
  device_.expect_fault([&] { tpu_mem_check_tensor(end - 16, &shape, nullptr, DT_FP16, 0); }, "tpu_mem_check_tensor: ");
  device_.expect_fault([&] { tpu_mem_check_matrix(global_, 7, 9, 8, DT_INT8, 1); },
                       "tpu_mem_check_matrix: row_stride (8) is less than cols (9)");
}

TEST_F(MemoryQuestions, FollowTheRecord) {
  const auto record = [&] { tpu_mem_record_add(global_ + 4096, 1024, 42); };
  expect_fine([&] { record(), tpu_mem_check_range(global_ + 4096, 1024, 1), tpu_mem_check_range(global_, 4096, 0); });
  device_.expect_fault([&] { record(), tpu_mem_check_range(global_ + 4096, 1025, 1); },
                       "which the kernel has recorded with 42");
  device_.expect_fault([&] { record(), tpu_mem_check_range(global_ + 4090, 20, 1); }, "runs over an end of [0x");
  device_.expect_fault(
      [&] {
        record(), tpu_mem_record_del(global_ + 4096, 1024);
        tpu_mem_check_range(global_ + 5000, 4, 0);
      },
      "which the kernel has taken off the record");
  expect_fine([&] { tpu_mem_check_range(global_ + 4096, 1025, 1); });  // another launch, another record
}

TEST_F(MemoryQuestions, GuardsStopCommands) {
  const dim4 shape = {1, 4, 1, 8};
  const auto store = [&](std::uint64_t at) { tpu_gdma_cpy_L2S(global_ + at, 0, &shape, nullptr, nullptr, DT_FP32); };
  const auto load = [&](std::uint64_t at) { tpu_gdma_cpy_S2L(0, global_ + at, &shape, nullptr, nullptr, DT_FP32); };
  const auto guard = [&](mem_guard_attr_t attr) { tpu_set_mem_guard(3, global_ + 1024, 64, attr); };
  expect_fine([&] { guard(NON_WRITABLE), load(1024), store(896), store(1088); });
  device_.expect_fault([&] { guard(NON_WRITABLE), store(900); }, "tpu_gdma_cpy_L2S: dst writes bytes of guard 3, [0x");
  expect_fine([&] { guard(NON_READABLE), store(1024), load(1088); });
  device_.expect_fault([&] { guard(NON_READABLE), load(1084); }, "tpu_gdma_cpy_S2L: src");
  device_.expect_fault([&] { guard(NON_READABLE_NON_WRITABLE), store(1024); }, "guard 3");
  expect_fine([&] { guard(NON_WRITABLE), guard(READABLE_WRITABLE), store(1024); });
  expect_fine([&] { store(1024); });  // guards end with their launch
  // A strided row that steps over the guard.
  const dim4 row = {1, 1, 4, 1}, apart = {0, 0, 64, 1};
  expect_fine([&] {
    guard(NON_WRITABLE);
    tpu_gdma_cpy_L2S(global_ + 1024 - 128, 0, &row, &apart, nullptr, DT_FP32);
  });
  int none = 4;
  device_.expect_fault([&] { tpu_set_mem_guard(0, global_, 4, static_cast<mem_guard_attr_t>(none)); },
                       "tpu_set_mem_guard: attr (4) is no mem_guard_attr_t");
}

TEST_F(MemoryQuestions, FindNans) {
  const dim4 row = {1, 2, 1, 3};
  dim4 shape = row;
  const std::uint32_t kinds[][2] = {{0x7FC00001U, DT_FP32}, {0x7E00U, DT_FP16}, {0x7FC0U, DT_BFP16}};
  for (const auto& [bits, type] : kinds) {
    const auto dtype = static_cast<data_type_t>(type);
    expect_fine([&, bits = bits] {
      scalar_t none{}, nan{};
      none.u32 = 0;
      nan.u32 = bits;
      tpu_bdc_set_C(0, none, &row, nullptr, dtype);
      EXPECT_EQ(tpu_mem_check_local_nan(0, &shape, NULL, dtype), 0);
      const dim4 one = {1, 1, 1, 1}, anywhere = {1, 1, 1, 1};
      tpu_bdc_set_C(0x40000 + 2 * (dtype == DT_FP32 ? 4 : 2), nan, &one, &anywhere, dtype);
      EXPECT_EQ(tpu_mem_check_local_nan(0, &shape, NULL, dtype), 1);
      tpu_gdma_cpy_L2S(global_, 0, &row, nullptr, nullptr, dtype);
      EXPECT_EQ(tpu_mem_check_ddr_nan(global_, 6, dtype), 1);
      EXPECT_EQ(tpu_mem_check_ddr_nan(global_, 5, dtype), 0);
    });
  }
}

TEST_F(Newest, InverseSinesOfAnyTypeAreThoseOfFp32) {
  constexpr local_addr_t kCoeff = 0x1000, kSrc = 0x2000, kWork = 0x4000, kDst = 0x6000;
  const dim4 shape = {2, 67, 3, 5};
  const auto fill = [&](float value) {
    scalar_t scalar{};
    scalar.f32 = value;
    tpu_bdc_set_C(kSrc, scalar, &shape, nullptr, DT_FP32);
  };
  for (const float value : {0.0F, 1.0F, -1.0F, 0.3F, -0.75F, 1.5F, -0.0F}) {
    expect_same(
        [&] {
          fill(value), tpu_bdc_load_fp_arcsin_coeff(kCoeff, DT_FP32);
          tpu_bdc_fp_arcsin(kDst, kSrc, kWork, kCoeff, &shape, DT_FP32);
        },
        [&] {
          fill(value), tpu_bdc_load_fp32_arcsin_coeff(kCoeff);
          tpu_bdc_fp32_arcsin(kDst, kSrc, kWork, kCoeff, &shape);
        },
        "arcsin");
    expect_same(
        [&] {
          fill(value), tpu_bdc_load_fp_arcsin_coeff(kCoeff, DT_FP32);
          tpu_bdc_fp_arccos(kDst, kSrc, kWork, kCoeff, &shape, DT_FP32);
        },
        [&] {
          fill(value), tpu_bdc_load_fp32_arcsin_coeff(kCoeff);
          tpu_bdc_fp32_arccos(kDst, kSrc, kWork, kCoeff, &shape);
        },
        "arccos");
  }
  TestDevice device("bm1690");
  device.expect_fault([] { tpu_bdc_load_fp_arcsin_coeff(0, DT_FP16); },
                      "tpu_bdc_load_fp_arcsin_coeff: dst type is fp16");
  device.expect_fault([] { tpu_bdc_load_fp_arctan_coeff(0, DT_BFP16); },
                      "tpu_bdc_load_fp_arctan_coeff: dst type is bfp16");
}

// The series has 16 terms, so it is least exact near 1: there the last term is 1/31, and half of the next is missing.
TEST_F(Newest, InverseTangentIsASeriesUpToOneAndItsComplementBeyond) {
  constexpr local_addr_t kCoeff = 0x1000, kSrc = 0x40000 * 3 + 0x2000, kDst = kSrc + 0x2000;
  constexpr local_addr_t kWork = kDst + 0x2000, kWork2 = kWork + 0x2000;
  TestDevice device("bm1690");
  const float values[] = {0.0F, -0.25F, 0.5F, -0.9F, 1.0F, 1.25F, -3.0F, 1000.0F, -1e30F, 1e38F};
  const dim4 shape = {1, 1, 2, 5};
  std::memcpy(device.local<float>(3, 0x2000), values, sizeof(values));
  const LaunchOutcome outcome = device.run([&] {
    tpu_bdc_load_fp_arctan_coeff(kCoeff, DT_FP32);
    tpu_bdc_fp_arctan(kDst, kSrc, kWork, kWork2, kCoeff, &shape, DT_FP32);
  });
  ASSERT_TRUE(outcome.ok) << outcome.text;
  const float* results = device.local<float>(3, 0x4000);
  for (std::size_t i = 0; i + 1 < std::size(values); ++i) {
    EXPECT_NEAR(results[i], std::atan(values[i]), std::abs(values[i]) == 1.0F ? 0.02 : 2e-3) << values[i];
  }
  // 1 / 1e38 is too small for a number: recorded so.
  EXPECT_EQ(results[std::size(values) - 1], -1.57079637F);
}

}  // namespace
}  // namespace softtpu::newest_test
