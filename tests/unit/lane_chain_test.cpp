// Functions of many steps leave the same memory whether their steps are carried out together, lane by lane (fast
// kernels, no observers), or each on the whole tensor with plain loops: for every instruction set and for threads.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "device/core/core.hpp"
#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "tpu_kernel.h"

namespace softtpu::lane_chain_test {
namespace {

constexpr local_addr_t kDst = 0, kSrc = 0x5000, kWork0 = 0xa000, kWork1 = 0xf000, kWork2 = 0x14000, kWork3 = 0x19000;
constexpr local_addr_t kExp = 0x1e000, kLog = 0x1e100, kErf = 0x1e200, kSin = 0x1e300, kTable = 0x1e400;
constexpr local_addr_t kHalfExp = 0x1e800, kHalfLog = 0x1e900, kHalfErf = 0x1ea00;
constexpr std::uint32_t kUsed = 0x1f000;  // of each local memory

struct Operands {
  local_addr_t dst, src, work0, work1, work2, work3;
  const dim4* shape;
};
using Function = void (*)(const Operands&);

constexpr Function kFunctions[] = {
    [](const Operands& o) { tpu_bdc_fp32_exp(o.dst, o.src, o.work0, o.work1, kExp, kTable, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_exp(o.dst, o.dst, o.work0, o.work1, kExp, kTable, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_tanh(o.dst, o.src, o.work0, o.work1, kExp, kTable, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_selu(o.dst, o.src, o.work0, o.work1, kExp, kTable, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_softplus(o.dst, o.src, o.work0, o.work1, kExp, kLog, kTable, o.shape, 2.0F); },
    [](const Operands& o) { tpu_bdc_fp32_log(o.dst, o.src, o.work0, kLog, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_pow_C(o.dst, o.src, o.work0, o.work1, kExp, kLog, kTable, 2.5F, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_sin(o.dst, o.src, o.work0, kSin, o.shape); },
    [](const Operands& o) { tpu_bdc_fp32_erf(o.dst, o.src, o.work0, o.work1, o.work2, kExp, kErf, kTable, o.shape); },
    [](const Operands& o) {
      tpu_bdc_fp32_compensate_reciprocal(o.dst, o.src, o.work0, o.work1, o.work2, o.shape, nullptr, 2);
    },
    [](const Operands& o) { tpu_bdc_fp_exp(o.dst, o.src, o.work0, o.work1, kHalfExp, o.shape, DT_FP16); },
    [](const Operands& o) { tpu_bdc_fp_log(o.dst, o.src, o.work0, kHalfLog, o.shape, DT_FP16); },
    [](const Operands& o) {
      tpu_bdc_fp_gelu(o.dst, o.src, o.work0, o.work1, o.work2, o.work3, kHalfExp, kHalfErf, o.shape, DT_FP16);
    },
    // Two functions behind each other, the second one after a command that ends the first one's lanes.
    [](const Operands& o) {
      tpu_bdc_fp32_sigmoid(o.work2, o.src, o.work0, o.work1, kExp, kTable, o.shape);
      tpu_bdc_fp_add(o.dst, o.work2, o.src, o.shape, nullptr, nullptr, nullptr, DT_FP32);
      tpu_bdc_fp32_silu(o.work3, o.dst, o.work0, o.work1, kExp, kTable, o.shape);
    },
};

// A lane of one slice, lanes of many slices, fewer lanes than NPUs, several channels on a lane with gaps behind them.
constexpr dim4 kShapes[] = {{1, 3, 64, 70}, {1, 64, 32, 32}, {2, 70, 9, 11}, {3, 130, 4, 6}};

class LaneChains : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!set_simd_limit(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
    memories_ = std::move(*Memories::create(*load_chip("bm1684x")));
    core_ = std::make_unique<Core>(*memories_, 0);
    const Chip& chip = memories_->chip();
    image_.resize(std::size_t{kUsed} * static_cast<std::size_t>(chip.npu_num));
    std::mt19937 random(5);
    auto* words = reinterpret_cast<std::uint32_t*>(image_.data());
    static const float kSpecial[] = {0.0F, -0.0F, 1e-40F, INFINITY, -INFINITY, NAN, -NAN, 3e38F, 88.5F, -103.5F};
    for (std::size_t i = 0; i < image_.size() / sizeof(float); ++i) {
      float value = std::uniform_real_distribution<float>(-20, 20)(random);
      if (random() % 50 == 0) value = kSpecial[random() % std::size(kSpecial)];
      words[i] = std::bit_cast<std::uint32_t>(value);
      if (random() % 50 == 0) words[i] = static_cast<std::uint32_t>(random());
    }
  }
  void TearDown() override {
    set_plain_kernels(false);
    set_simd_limit("");
    set_thread_limit(0);
  }

  std::vector<std::uint8_t> run(bool plain, Function function, const Operands& operands) {
    const Chip& chip = memories_->chip();
    const auto lane = [&](int npu) { return std::size_t{kUsed} * static_cast<std::size_t>(npu); };
    for (int npu = 0; npu < chip.npu_num; ++npu) std::memcpy(memories_->local(npu), image_.data() + lane(npu), kUsed);
    set_plain_kernels(plain);
    const std::function<void()> kernel = [&] {
      tpu_bdc_load_fp32_exp_coeff(kExp);
      tpu_bdc_load_fp32_exp_table(kTable);
      tpu_bdc_load_fp32_log_coeff(kLog);
      tpu_bdc_load_fp32_erf_coeff(kErf);
      tpu_bdc_load_fp32_sin_coeff(kSin);
      tpu_bdc_load_fp_exp_coeff(kHalfExp, DT_FP16);
      tpu_bdc_load_fp_log_coeff(kHalfLog, DT_FP16);
      tpu_bdc_load_fp_erf_coeff(kHalfErf, DT_FP16);
      function(operands);
    };
    const LaunchOutcome outcome = core_->run(
        [](const void* argument) { (*static_cast<const std::function<void()>*>(argument))(); }, "test", &kernel);
    EXPECT_TRUE(outcome.ok) << outcome.text;
    commands_ = outcome.commands;
    std::vector<std::uint8_t> memory(image_.size());
    for (int npu = 0; npu < chip.npu_num; ++npu) std::memcpy(memory.data() + lane(npu), memories_->local(npu), kUsed);
    return memory;
  }

  std::unique_ptr<Memories> memories_;
  std::unique_ptr<Core> core_;
  std::vector<std::uint8_t> image_;
  std::uint64_t commands_ = 0;
};

TEST_P(LaneChains, StepsTogetherAreStepsOneByOne) {
  const auto lane_bytes = static_cast<std::uint32_t>(memories_->chip().local_bytes);
  int number = 0;
  for (const Function function : kFunctions) {
    for (const dim4& shape : kShapes) {
      SCOPED_TRACE(testing::Message() << "function " << number << ", shape " << shape.n << " " << shape.c << " "
                                      << shape.h << " " << shape.w);
      const std::uint32_t start = static_cast<std::uint32_t>(number % 3) * 5 * lane_bytes;
      const Operands operands{kDst + start,   kSrc + start,   kWork0 + start, kWork1 + start,
                              kWork2 + start, kWork3 + start, &shape};
      const std::vector<std::uint8_t> plain = run(true, function, operands);
      const std::uint64_t commands = commands_;
      for (const int threads : {1, 0}) {
        set_thread_limit(threads);
        ASSERT_TRUE(run(false, function, operands) == plain) << threads << " threads";
        ASSERT_EQ(commands_, commands);
      }
    }
    ++number;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LaneChains, testing::Values("sse4", "avx2", "avx512", "neon"),
                         [](const auto& parameter) { return std::string(parameter.param); });

// Commands of networks lie upon each other in every way, and their lanes may be few or others.
TEST_P(LaneChains, ResultsUponOperandsAreThoseOfCommandsAlone) {
  const Function function = [](const Operands& o) {
    Core::current()->begin_chain();
    const dim4 few = {1, 2, o.shape->h, o.shape->w};
    tpu_bdc_fp_add(o.work0, o.src, o.dst, o.shape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_cast(o.work1, o.work0, o.shape, nullptr, nullptr, DT_INT16, DT_FP32, RM_HALF_TO_EVEN);
    tpu_bdc_cast(o.work2, o.work1, o.shape, nullptr, nullptr, DT_FP32, DT_INT16, RM_HALF_TO_EVEN);
    tpu_bdc_cpy(o.work0, o.work0 + 64, o.shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_cpy(o.work1 + 64, o.work1, o.shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_mul(o.work2, o.work0, o.work1, &few, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_mul(o.dst, o.work2, o.work1, o.shape, nullptr, nullptr, nullptr, DT_FP32);
    tpu_bdc_int_add(o.work3, o.work2, o.work1, o.shape, nullptr, nullptr, nullptr, DT_INT16, DT_INT8, DT_INT8, 0,
                    RM_HALF_UP, true);
    tpu_bdc_max(o.work2, o.work2, o.dst, o.shape, nullptr, nullptr, nullptr, DT_FP32);
    Core::current()->end_chain();
  };
  for (const dim4& shape : kShapes) {
    const Operands operands{kDst, kSrc, kWork0, kWork1, kWork2, kWork3, &shape};
    const std::vector<std::uint8_t> plain = run(true, function, operands);
    for (const int threads : {1, 0}) {
      set_thread_limit(threads);
      ASSERT_TRUE(run(false, function, operands) == plain)
          << "shape " << shape.n << " " << shape.c << " " << shape.h << " " << shape.w << ", " << threads << " threads";
    }
  }
}

// A step that is refused ends the function, and what was issued before it has been carried out.
TEST(LaneChain, StepsBeforeARefusedOneAreCarriedOut) {
  const auto memories = std::move(*Memories::create(*load_chip("bm1684x")));
  Core core(*memories, 0);
  auto* dst = reinterpret_cast<float*>(memories->local(0));
  const dim4 shape = {1, 64, 32, 32};
  const std::function<void()> kernel = [&] {
    core.begin_chain();
    scalar_t two;
    two.f32 = 2.0F;
    tpu_bdc_set_C(kDst, two, &shape, nullptr, DT_FP32);
    tpu_bdc_fp_add_C(kDst, kDst, two, &shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_mul_C(kDst, kDst, two, &shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_add_C(kDst + 2, kDst, two, &shape, nullptr, nullptr, DT_FP32);
    tpu_bdc_fp_mul_C(kDst, kDst, two, &shape, nullptr, nullptr, DT_FP32);
    core.end_chain();
  };
  const LaunchOutcome outcome =
      core.run([](const void* argument) { (*static_cast<const std::function<void()>*>(argument))(); }, "test", &kernel);
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.text.find("command 4"), std::string::npos) << outcome.text;
  EXPECT_EQ(dst[0], 8.0F);
}

}  // namespace
}  // namespace softtpu::lane_chain_test
