// What BM1684 answers about itself: sizes, addresses, pointers, layouts, counters; and registration.
#include "device/isa/op_names.hpp"
#include "runtime/module/kernel_registry.hpp"
#include "tests/unit/okk_fixture.hpp"

namespace softtpu::okk_query_test {
namespace {

class OkkQuery : public OkkTest {
 protected:
  // Calls body as a kernel, which has to succeed.
  void run(const std::function<void()>& body) {
    const LaunchOutcome outcome = device_.run(body);
    ASSERT_TRUE(outcome.ok) << outcome.text;
  }
};

TEST_F(OkkQuery, SizesAndAddressesAreTheChips) {
  struct Fact {
    Op op;
    unsigned long long got, want;
  };
  std::vector<Fact> facts;
  run([&] {
#define FACT(function, want) {Op::function, static_cast<unsigned long long>(function()), want}
    facts = {FACT(okk_npu_num, 64),
             FACT(okk_eu_num, 32),
             FACT(okk_local_mem_size_per_npu, 524288),
             FACT(okk_local_mem_bank_per_npu, 8),
             FACT(okk_local_mem_start_addr, 0x08000000),
             FACT(okk_l2_sram_start_addr, 0x100A2000),
             FACT(okk_l2_sram_size, 0x25E000),
             FACT(okk_dtcm_start_addr, 0x02020000),
             FACT(okk_dtcm_size, 0x5F400),
             FACT(okk_lookup_table_start_addr, 0x00323C00),
             FACT(okk_lookup_table_size, 0xDC400),
             FACT(okk_global_mem_start_addr, 0x100000000)};
#undef FACT
  });
  ASSERT_FALSE(facts.empty());
  for (const Fact& fact : facts) {
    EXPECT_EQ(fact.got, fact.want) << info(fact.op).name;
    device_.oracle().confirm(fact.op);
  }
}

// What a kernel stores through a pointer is what GDMA reads at that address.
TEST_F(OkkQuery, PointersReachTheMemories) {
  const dim4 one = {1, 1, 1, 1};
  for (int trial = 0; trial < 32; ++trial) {
    const auto word = 4U * static_cast<unsigned>(number(0, 50000));
    const int npu = number(0, 63);
    const std::uint32_t bits = random_word();
    int seen[4] = {};
    run([&] {
      const struct {
        std::uint64_t addr;
        unsigned char* bytes;
      } places[] = {
          {device_.scratch(word), okk_global_mem_addr(device_.scratch(word))},
          {okk_l2_sram_start_addr() + word, okk_l2_sram_addr(okk_l2_sram_start_addr() + word)},
          {okk_dtcm_start_addr() + word, okk_dtcm_addr(okk_dtcm_start_addr() + word)},
          {okk_local_mem_start_addr() + static_cast<unsigned>(npu) * 524288U + word,
           okk_local_mem_addr(static_cast<unsigned>(npu), word)},
      };
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t value = bits + static_cast<unsigned>(i);
        std::memcpy(places[i].bytes, &value, sizeof value);
        okk_gdma_32bit_cpy_S2L(0, places[i].addr, &one, nullptr, nullptr);
        seen[i] = std::memcmp(okk_local_mem_addr(0, 0), &value, sizeof value) == 0;
      }
      EXPECT_EQ(okk_local_mem_addr(64, 0), nullptr);
    });
    device_.oracle().forget();
    const Op functions[] = {Op::okk_global_mem_addr, Op::okk_l2_sram_addr, Op::okk_dtcm_addr, Op::okk_local_mem_addr};
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(seen[i]) << info(functions[i]).name << ", offset " << word;
      device_.oracle().confirm(functions[i]);
    }
  }
}

TEST_F(OkkQuery, LayoutsFollowTheFormulas) {
  const auto as_list = [](const dim4& d) { return std::vector<int>{d.n, d.c, d.h, d.w}; };
  for (int trial = 0; trial < 200; ++trial) {
    const dim4 shape = {number(1, 9), number(1, 300), number(1, 60), number(1, 60)};
    const int start = number(0, 63);
    const int groups = (start + shape.c + 63) / 64;
    const int pixels = shape.h * shape.w;
    const auto rounded = [&](int unit) { return (pixels + unit - 1) / unit * unit; };
    const auto address = static_cast<unsigned>(start) * 524288U + static_cast<unsigned>(number(0, 524287));
    dim4 got[5] = {};
    int channels = 0, npu = 0;
    run([&] {
      okk_128_byte_aligned_stride_for_32bit(&got[0], start, &shape);
      okk_128_byte_aligned_stride_for_16bit(&got[1], start, &shape);
      okk_128_byte_aligned_stride_for_8bit(&got[2], start, &shape);
      okk_compact_stride(&got[3], start, &shape);
      okk_continuous_stride(&got[4], &shape);
      channels = okk_channle_num_per_npu(start, shape.c);
      npu = okk_start_npu_index(address);
    });
    const Op functions[] = {Op::okk_128_byte_aligned_stride_for_32bit, Op::okk_128_byte_aligned_stride_for_16bit,
                            Op::okk_128_byte_aligned_stride_for_8bit, Op::okk_compact_stride,
                            Op::okk_continuous_stride};
    const int planes[] = {rounded(32), rounded(64), rounded(128), pixels, pixels};
    for (int i = 0; i < 5; ++i) {
      const int per_batch = functions[i] == Op::okk_continuous_stride ? shape.c : groups;
      EXPECT_EQ(as_list(got[i]), (std::vector<int>{per_batch * planes[i], planes[i], shape.w, 1}))
          << info(functions[i]).name << ", start " << start << ", " << shape.n << " " << shape.c << " " << shape.h
          << " " << shape.w;
      device_.oracle().confirm(functions[i]);
    }
    EXPECT_EQ(channels, groups);
    EXPECT_EQ(npu, start);
    device_.oracle().confirm(Op::okk_channle_num_per_npu);
    device_.oracle().confirm(Op::okk_start_npu_index);
  }
}

struct Node {
  std::uint32_t bdc, gdma, parallel;
};

TEST_F(OkkQuery, CountersFollowTheEngines) {
  for (int trial = 0; trial < 20; ++trial) {
    const dim4 shape = {1, 1, 1, 4};
    const int loads = number(0, 5), computes = number(0, 5), before = number(0, 3);
    Node node{}, again{}, restored{};
    bool states[3] = {};
    run([&] {
      okk_initialize();
      okk_disable_check_id_node();
      okk_enable_check_id_node();
      for (int i = 0; i < before; ++i) okk_bdc_relu(0, 0, &shape, nullptr, nullptr);
      states[0] = okk_is_parallel_state();
      okk_parallel_start();
      states[1] = okk_is_parallel_state();
      for (int i = 0; i < loads; ++i) okk_gdma_32bit_cpy_S2L(0, device_.scratch(), &shape, nullptr, nullptr);
      for (int i = 0; i < computes; ++i) okk_bdc_relu(256, 256, &shape, nullptr, nullptr);
      okk_parallel_end();
      states[2] = okk_is_parallel_state();
      okk_get_id_node(&node);
      okk_initialize();
      okk_get_id_node(&again);
      okk_set_id_node(&node);
      okk_get_id_node(&restored);
      okk_poll();
    });
    device_.oracle().forget();
    EXPECT_EQ(node.bdc, static_cast<unsigned>(before + computes));
    EXPECT_EQ(node.gdma, static_cast<unsigned>(loads));
    EXPECT_EQ(again.bdc + again.gdma, 0U);
    EXPECT_EQ(std::memcmp(&node, &restored, sizeof node), 0);
    EXPECT_FALSE(states[0]);
    EXPECT_TRUE(states[1]);
    EXPECT_FALSE(states[2]);
    for (const Op op :
         {Op::okk_initialize, Op::okk_poll, Op::okk_parallel_start, Op::okk_parallel_end, Op::okk_is_parallel_state,
          Op::okk_get_id_node, Op::okk_set_id_node, Op::okk_enable_check_id_node, Op::okk_disable_check_id_node}) {
      device_.oracle().confirm(op);
    }
  }
}

void first_kernel(const void*) {}
void second_kernel(const void*) {}

TEST_F(OkkQuery, RegistrationKeepsTheFirstFunctionOfAName) {
  okk_register_kernel_func("okk_query_test_kernel", first_kernel);
  okk_register_kernel_func("okk_query_test_kernel", second_kernel);
  EXPECT_EQ(kernel_registry().find(KernelRegistry::kProgram, "okk_query_test_kernel"), first_kernel);
  testing::internal::CaptureStderr();
  okk_register_kernel_func(nullptr, first_kernel);
  okk_register_kernel_func("okk_query_test_nothing", nullptr);
  const std::string refusals = testing::internal::GetCapturedStderr();
  EXPECT_NE(refusals.find("okk_register_kernel_func: the name is NULL"), std::string::npos) << refusals;
  EXPECT_NE(refusals.find("okk_register_kernel_func: the function is NULL"), std::string::npos) << refusals;
  testing::internal::CaptureStdout();
  okk_dump_registered_kernel_funcs();
  std::fflush(stdout);
  const std::string dump = testing::internal::GetCapturedStdout();
  const std::size_t at = dump.find("okk_query_test_kernel");
  EXPECT_NE(at, std::string::npos) << dump;
  EXPECT_EQ(dump.find("okk_query_test_kernel", at + 1), std::string::npos) << dump;
  EXPECT_EQ(dump.find("okk_query_test_nothing"), std::string::npos) << dump;
  device_.oracle().confirm(Op::okk_register_kernel_func);
  device_.oracle().confirm(Op::okk_dump_registered_kernel_funcs);
}

TEST_F(OkkQuery, RefusesNullAndSectionsOutOfOrder) {
  const dim4 shape = {1, 1, 1, 1};
  dim4 stride;
  device_.expect_fault([&] { okk_compact_stride(nullptr, 0, &shape); }, "okk_compact_stride: stride is NULL");
  device_.expect_fault([&] { okk_continuous_stride(&stride, nullptr); }, "okk_continuous_stride: shape is NULL");
  const dim4 huge = {1, 65536, 65536, 1};
  device_.expect_fault([&] { okk_continuous_stride(&stride, &huge); },
                       "okk_continuous_stride: the result (4294967296) does not fit into an int");
  device_.expect_fault([] { okk_get_id_node(nullptr); }, "okk_get_id_node: node is NULL");
  device_.expect_fault([] { okk_set_id_node(nullptr); }, "okk_set_id_node: node is NULL");
  device_.expect_fault([] { okk_parallel_end(); }, "okk_parallel_end: no parallel section is open");
  device_.expect_fault(
      [] {
        okk_parallel_start();
        okk_parallel_start();
      },
      "okk_parallel_start: a parallel section is open already");
  device_.expect_fault(
      [] {
        okk_parallel_start();
        okk_poll();
      },
      "okk_poll: a parallel section is open");
}

}  // namespace
}  // namespace softtpu::okk_query_test
