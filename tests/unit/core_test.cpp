// Sticky faults, sections and counters of a core.
#include "device/core/composite_scope.hpp"
#include "device/isa/op_names.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::core_test {
namespace {

const dim4 kShape = {1, 2, 3, 4};

// Its own frame, as a kernel has, so that the line of the call is known.
__attribute__((noinline)) void broken_kernel() {
  const dim4 empty = {0, 2, 3, 4};
  tpu_bdc_fp_add(0x400, 0x800, 0xC00, &empty, nullptr, nullptr, nullptr, DT_FP32);
  scalar_t one;
  one.f32 = 1.0F;
  tpu_bdc_fp_add_C(0x400, 0x800, one, &kShape, nullptr, nullptr, DT_FP32);
}

TEST(Core, KeepsTheFirstFaultAndDoesNothingAfterIt) {
  TestDevice device;
  const LaunchOutcome outcome = device.run(broken_kernel);
  ASSERT_FALSE(outcome.ok);
  EXPECT_EQ(outcome.text.substr(0, outcome.text.find('\n')), "tpu_bdc_fp_add: shape.n (0) is outside 1..65535.");
  EXPECT_NE(outcome.text.find("\n - dst 0x00000400, shape [0, 2, 3, 4], fp32"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("While running kernel \"test\" on core 0, command 1"), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find(", at core_test.cpp:"), std::string::npos) << outcome.text;
  EXPECT_EQ(*device.local<float>(0, 0x400), 0.0F) << "the command after the fault was executed";
}

TEST(Core, AFaultEndsWithItsLaunch) {
  TestDevice device;
  EXPECT_FALSE(device.run([] { tpu_parallel_end(); }).ok);
  EXPECT_TRUE(device.run([] { tpu_poll(); }).ok);
}

TEST(Core, RefusesNullShapeAndUnknownType) {
  TestDevice device;
  device.expect_fault([] { tpu_bdc_fp_add(0, 0x400, 0x800, nullptr, nullptr, nullptr, nullptr, DT_FP32); },
                      "shape is NULL");
  device.expect_fault([] { tpu_bdc_fp_add(0, 0x400, 0x800, &kShape, nullptr, nullptr, nullptr, DT_FP20); },
                      "dtype (17) is not a data type of bm1684x");
}

TEST(Core, RefusesOperandsOnDifferentNpus) {
  TestDevice device;
  device.expect_fault([] { tpu_bdc_fp_add(0, 0x400, 0x40000 * 3, &kShape, nullptr, nullptr, nullptr, DT_FP32); },
                      "start NPU of src1 (3) differs from start NPU of dst (0)");
}

TEST(Core, AFailedAssertionEndsTheLaunchAtOnce) {
  TestDevice device;
  static bool went_on = false;
  const LaunchOutcome outcome = device.run([] {
    const int rows = 3;
    TPUKERNEL_ASSERT(rows % 2 == 0);
    went_on = true;
  });
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.text.find("Assertion \"rows % 2 == 0\" failed"), std::string::npos) << outcome.text;
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(device.run([] { tpu_poll(); }).ok);
}

TEST(Core, ARefusedStepHasTheNameThatTheKernelCalled) {
  TestDevice device;
  device.expect_fault(
      [] {
        const CompositeScope outer(*Core::current(), Op::tpu_bdc_fp32_exp);
        const CompositeScope inner(*Core::current(), Op::tpu_bdc_fp32_expm1);
        tpu_bdc_fp_add(0x2, 0x400, 0x800, &kShape, nullptr, nullptr, nullptr, DT_FP32);
      },
      "tpu_bdc_fp32_exp [tpu_bdc_fp_add]: ");
  // What is no step, and what comes after a launch that was cut off in the middle of one, has its own name alone.
  const LaunchOutcome own = device.run([] { tpu_bdc_fp32_exp(0x2, 0x400, 0x800, 0xC00, 0x1000, 0x1400, &kShape); });
  EXPECT_EQ(own.text.rfind("tpu_bdc_fp32_exp: ", 0), 0U) << own.text;
  EXPECT_FALSE(device
                   .run([] {
                     const CompositeScope cut_off(*Core::current(), Op::tpu_bdc_fp32_exp);
                     TPUKERNEL_ASSERT(false);
                   })
                   .ok);
  EXPECT_EQ(device.run(broken_kernel).text.rfind("tpu_bdc_fp_add: ", 0), 0U);
}

TEST(Core, OrdersParallelSections) {
  TestDevice device;
  EXPECT_NE(device.run([] { tpu_parallel_start(), tpu_parallel_start(); }).text.find("open already"),
            std::string::npos);
  EXPECT_NE(device.run([] { tpu_parallel_start(), tpu_poll(); }).text.find("end it before polling"), std::string::npos);
  EXPECT_TRUE(device
                  .run([] {
                    EXPECT_FALSE(tpu_is_parallel_state());
                    tpu_parallel_start();
                    EXPECT_TRUE(tpu_is_parallel_state());
                    tpu_parallel_end();
                    EXPECT_FALSE(tpu_is_parallel_state());
                  })
                  .ok);
}

}  // namespace
}  // namespace softtpu::core_test
