// SDMA, and copies that reduce with what lies in L2 SRAM, on BM1690.
#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <thread>

#include "device/command/functions.hpp"
#include "device/engines/dma/reduce/command.hpp"
#include "device/numeric/float_unit.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::sdma_test {
namespace {

class Sdma : public testing::Test {
 protected:
  int in(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::uint8_t* global(std::uint64_t offset) {
    return device_.memories().global() + (device_.scratch(offset) - device_.chip().global_mem.start);
  }
  std::uint64_t l2(std::uint64_t offset) const { return device_.chip().l2_sram.start + offset; }
  template <class T>
  T* l2_data(std::uint64_t offset) {
    return reinterpret_cast<T*>(device_.memories().find_system(l2(offset), 1).data);
  }

  std::mt19937 random_{20261124};
  TestDevice device_{"bm1690"};
};

TEST_F(Sdma, CopiesWithFreeStridesBetweenSystemMemories) {
  constexpr std::uint64_t kSrc = 0, kDst = 1 << 20;
  for (int trial = 0; trial < 50; ++trial) {
    const dim4 shape{in(1, 3), in(1, 5), in(1, 6), in(1, 40)};
    const int pad = in(0, 3), step = in(1, 2);
    const dim4 from{shape.c * shape.h * (shape.w + pad), shape.h * (shape.w + pad), shape.w + pad, 1};
    const dim4 to{shape.c * shape.h * shape.w * step, shape.h * shape.w * step, shape.w * step, step};
    for (int i = 0; i < 8192; ++i) {
      reinterpret_cast<std::uint16_t*>(global(kSrc))[i] = static_cast<std::uint16_t>(random_());
      reinterpret_cast<std::uint16_t*>(global(kDst))[i] = 0xA5A5;
    }
    const LaunchOutcome outcome = device_.run([&] {
      tpu_sdma_cpy_S2S(device_.scratch(kDst), device_.scratch(kSrc), &shape, &to, &from, DT_BFP16);
      tpu_sdma_poll();
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    std::vector<std::uint16_t> wanted(8192, 0xA5A5);
    for (int n = 0; n < shape.n; ++n)
      for (int c = 0; c < shape.c; ++c)
        for (int h = 0; h < shape.h; ++h)
          for (int w = 0; w < shape.w; ++w)
            wanted[static_cast<std::size_t>(n * to.n + c * to.c + h * to.h + w * to.w)] =
                reinterpret_cast<std::uint16_t*>(global(kSrc))[n * from.n + c * from.c + h * from.h + w];
    ASSERT_EQ(std::memcmp(wanted.data(), global(kDst), wanted.size() * 2), 0);
  }
}

TEST_F(Sdma, RefusesLocalMemoryInOneLine) {
  const dim4 shape{1, 1, 1, 16};
  const std::uint64_t local = device_.chip().local_mem.start;
  device_.expect_fault([&] { tpu_sdma_cpy_S2S(local, device_.scratch(), &shape, nullptr, nullptr, DT_FP32); },
                       "tpu_sdma_cpy_S2S: dst (0x6900000000) lies in local memory, which SDMA does not reach.");
  device_.expect_fault([&] { tpu_sdma_system_cpy(device_.scratch(), local + 64, 16, DT_INT8); },
                       "tpu_sdma_system_cpy: src (0x6900000040) lies in local memory, which SDMA does not reach.");
}

// Recordings of VSDMA were not stable: what its documents say, on any port.
TEST_F(Sdma, ThroughAPortMovesTheSameBytes) {
  constexpr std::uint64_t kSrc = 0, kDst = 1 << 20, kIndex = 2 << 20;
  auto* src = reinterpret_cast<std::uint16_t*>(global(kSrc));
  auto* dst = reinterpret_cast<std::uint16_t*>(global(kDst));
  auto* index = reinterpret_cast<std::uint32_t*>(global(kIndex));
  const auto to = device_.scratch(kDst), from = device_.scratch(kSrc), by = device_.scratch(kIndex);
  for (int trial = 0; trial < 70; ++trial) {
    const dim4 shape{1, in(1, 5), in(1, 6), in(1, 40)};
    const int rows = in(1, 8), port = in(0, 31), count = shape.c * shape.h * shape.w;
    const scalar_t constant{.u32 = static_cast<std::uint32_t>(random_())};
    for (int i = 0; i < 4096; ++i) {
      src[i] = static_cast<std::uint16_t>(random_());
      dst[i] = 0xA5A5;
    }
    // Each row of a channel is scattered to a place of its own; an index beyond the parameter takes the constant.
    for (int i = 0; i < shape.c * shape.h; ++i)
      index[i] = static_cast<std::uint32_t>(trial % 7 == 6 ? i % shape.h : in(0, rows));
    std::vector<std::uint16_t> wanted(4096, 0xA5A5);
    const auto fill = [&](auto value_of) {
      for (int c = 0, i = 0; c < shape.c; ++c)
        for (int h = 0; h < shape.h; ++h)
          for (int w = 0; w < shape.w; ++w, ++i) wanted[static_cast<std::size_t>(i)] = value_of(c, h, w, i);
    };
    const auto low = static_cast<std::uint16_t>(constant.u32);
    const LaunchOutcome outcome = device_.run([&] {
      switch (trial % 7) {
        case 0: tpu_vsdma_cpy_S2S(to, from, &shape, nullptr, nullptr, DT_FP16, port); break;
        case 1: {
          const dim4 turned{shape.c, 1, shape.h, shape.w};
          tpu_vsdma_cpy_nc_trans_S2S(to, from, &turned, nullptr, nullptr, DT_FP16, port);
          break;
        }
        case 2: tpu_vsdma_set_C_system(to, constant, &shape, nullptr, DT_FP16, port); break;
        case 3: tpu_vsdma_system_cpy(to, from, static_cast<unsigned>(count), DT_FP16, port); break;
        case 4: tpu_vsdma_system_set(to, constant, static_cast<unsigned>(count), DT_FP16, port); break;
        case 5:
          tpu_vsdma_h_gather_S2S(to, from, by, constant, &shape, rows, nullptr, nullptr, nullptr, DT_FP16, port);
          break;
        default: tpu_vsdma_h_scatter_S2S(to, from, by, &shape, shape.h, nullptr, nullptr, nullptr, DT_FP16, port);
      }
      tpu_vsdma_port_poll(port);
      tpu_vsdma_poll();
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    fill([&](int c, int h, int w, int i) {
      if (trial % 7 == 2 || trial % 7 == 4) return low;
      if (trial % 7 != 5) return src[i];
      const std::uint32_t row = index[c * shape.h + h];
      if (row >= static_cast<std::uint32_t>(rows)) return low;
      return src[(c * rows + static_cast<int>(row)) * shape.w + w];
    });
    ASSERT_EQ(std::memcmp(wanted.data(), dst, wanted.size() * 2), 0) << "way " << trial % 7;
    device_.oracle().confirm();
  }
  const dim4 shape{1, 1, 1, 16};
  device_.expect_fault(
      [&] { tpu_vsdma_cpy_S2S(device_.chip().local_mem.start, from, &shape, nullptr, nullptr, DT_FP32, 0); },
      "tpu_vsdma_cpy_S2S: dst (0x6900000000) lies in local memory, which SDMA does not reach.");
}

TEST_F(Sdma, ThroughAPortSendsMessages) {
  const LaunchOutcome outcome = device_.run([&] {
    tpu_parallel_start();
    tpu_vsdma_system_set(device_.scratch(), scalar_t{.u32 = 7}, 16, DT_INT32, 3);
    tpu_vsdma_send_msg(5, 1, 3);
    tpu_gdma_wait_msg(5, 1);
    tpu_gdma_send_msg(6, 1);
    tpu_vsdma_wait_msg(6, 1, 3);
    tpu_parallel_end();
    tpu_vsdma_poll();
  });
  EXPECT_TRUE(outcome.ok) << outcome.text;
}

// Neither a recording nor a description says what arrives on the other chip.
TEST_F(Sdma, CdmaIsRefusedByNameWithTheReason) {
  device_.expect_fault([] { tpu_cdma_port_poll(1); },
                       "tpu_cdma_port_poll: BM1690 refuses this function: what CDMA does between chips is neither ");
  device_.expect_fault([] { tpu_cdma_nop_sync(0); }, "tpu_cdma_nop_sync: BM1690 refuses this function: what CDMA ");
  device_.expect_fault([] { tpu_sdma_busy(); },
                       "tpu_sdma_busy: BM1690 refuses this function: its answer is neither recorded nor described.");
  TestDevice other("bm1688");
  other.expect_fault([] { tpu_cdma_port_poll(1); }, "tpu_cdma_port_poll: BM1688 has no CDMA engine.");
}

TEST_F(Sdma, RefusesWhatTheRecordedChipRefusesAsAWhole) {
  const dim4 shape{1, 1, 1, 16};
  device_.expect_fault(
      [&] { tpu_sdma_reverse_S2S(device_.scratch(), device_.scratch(4096), &shape, nullptr, nullptr, 3, DT_FP32); },
      "tpu_sdma_reverse_S2S: BM1690 refuses this function: ");
}

TEST_F(Sdma, ReductionsCombineWithL2InEveryMode) {
  for (int trial = 0; trial < 60; ++trial) {
    const int opcode = in(0, 4), psum = in(0, 1), count = in(1, 300);
    const bool by_sdma = in(0, 1) != 0;
    std::vector<float> old(300), src(300);
    for (int i = 0; i < 300; ++i) {
      old[static_cast<std::size_t>(i)] = l2_data<float>(0)[i] = static_cast<float>(in(-1000, 1000)) / 16;
      src[static_cast<std::size_t>(i)] = reinterpret_cast<float*>(global(0))[i] =
          static_cast<float>(in(-1000, 1000)) / 16;
    }
    const dim4 shape{1, 1, 1, count};
    const LaunchOutcome outcome = device_.run([&] {
      const auto call = by_sdma ? tpu_sdma_cpy_reduce_S2L2 : tpu_gdma_cpy_reduce_S2L2;
      call(l2(0), device_.scratch(), &shape, nullptr, nullptr, DT_FP32, psum, opcode);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int i = 0; i < 300; ++i) {
      const float a = old[static_cast<std::size_t>(i)], b = src[static_cast<std::size_t>(i)];
      float wanted = a;
      if (i < count) {
        wanted = b;
        if (psum == 1 && opcode == 1) wanted = a * b;
        if (psum == 1 && opcode == 2) wanted = std::max(a, b);
        if (psum == 1 && opcode == 3) wanted = std::min(a, b);
        if (psum == 1 && opcode == 4) wanted = a + b;
      }
      ASSERT_EQ(l2_data<float>(0)[i], wanted) << "opcode " << opcode << " psum " << psum;
    }
  }
}

// Two cores add to the same words of L2, and none of their sums is lost.
TEST_F(Sdma, ReductionsOfSeveralCoresIntoOnePlaceAllCount) {
  constexpr int kRounds = 200, kWords = 2048;
  const auto other = device_.memories().make_for_core(1);
  ASSERT_TRUE(other) << other.error().text;
  const auto add = [&](Memories& memories, Dtype type) {
    const Dim4 shape{1, 1, 1, kWords};
    const auto tensor = [&](std::uint64_t address) {
      return Tensor{Space::kSystem, address, shape, {kWords, kWords, kWords, 1}, type, false};
    };
    const DmaReduceCmd cmd{ReduceMode::kAdd, true, Lossy::kNone, tensor(l2(0)), tensor(device_.scratch())};
    const FpuScope modes;
    for (int round = 0; round < kRounds; ++round) execute(memories, cmd);
  };
  for (const Dtype type : {Dtype::kInt32, Dtype::kFp32, Dtype::kFp16}) {
    for (int i = 0; i < kWords; ++i) {
      reinterpret_cast<std::uint32_t*>(global(0))[i] = type == Dtype::kInt32  ? 1U
                                                       : type == Dtype::kFp32 ? std::bit_cast<std::uint32_t>(1.0F)
                                                                              : 0x3C003C00U;
      l2_data<std::uint32_t>(0)[i] = 0;
    }
    std::thread thread([&] { add(**other, type); });
    add(device_.memories(), type);
    thread.join();
    for (int i = 0; i < kWords; ++i) {
      const double got = type == Dtype::kInt32  ? static_cast<double>(l2_data<std::int32_t>(0)[i])
                         : type == Dtype::kFp32 ? static_cast<double>(l2_data<float>(0)[i])
                                                : static_cast<double>(widen_f16(l2_data<std::uint16_t>(0)[i]));
      ASSERT_EQ(got, 2 * kRounds) << "word " << i << ", " << to_text(type);
    }
  }
}

TEST_F(Sdma, ReductionsNameWhatIsWrong) {
  const dim4 shape{1, 1, 1, 16};
  device_.expect_fault(
      [&] {
        tpu_gdma_cpy_reduce_S2L2(device_.scratch(), device_.scratch(64), &shape, nullptr, nullptr, DT_FP32, 1, 4);
      },
      "tpu_gdma_cpy_reduce_S2L2: dst address (0x");
  device_.expect_fault(
      [&] { tpu_gdma_cpy_reduce_S2L2(l2(0), device_.scratch(), &shape, nullptr, nullptr, DT_FP32, 1, 5); },
      "reduce_opcode (5) is outside 0..4");
  device_.expect_fault(
      [&] { tpu_gdma_cpy_reduce_S2L2(l2(0), device_.scratch(), &shape, nullptr, nullptr, DT_INT8, 1, 4); },
      "dst type is int8 (allowed: ");
}

TEST_F(Sdma, ALossyCopyAndItsWayBackKeepTwentyBits) {
  for (int trial = 0; trial < 20; ++trial) {
    const dim4 shape{in(1, 2), in(1, 4), in(1, 5), in(1, 60)};
    const int count = shape.n * shape.c * shape.h * shape.w;
    std::vector<std::uint32_t> src(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      src[static_cast<std::size_t>(i)] = reinterpret_cast<std::uint32_t*>(global(0))[i] =
          static_cast<std::uint32_t>(random_());
    const LaunchOutcome outcome = device_.run([&] {
      tpu_sdma_lossy_compress(device_.scratch(1 << 20), device_.scratch(), &shape, nullptr, nullptr);
      tpu_gdma_lossy_decompress_S2S(device_.scratch(2 << 20), device_.scratch(1 << 20), &shape, nullptr, nullptr);
    });
    ASSERT_TRUE(outcome.ok) << outcome.text;
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(reinterpret_cast<std::uint32_t*>(global(2 << 20))[i], src[static_cast<std::size_t>(i)] & 0xFFFFF000U);
  }
}

}  // namespace
}  // namespace softtpu::sdma_test
