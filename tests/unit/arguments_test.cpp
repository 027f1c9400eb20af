// Rules of arguments that the firmware asks before there is a command: their sentences name argument, value and limit.
#include <gtest/gtest.h>

#include <span>

#include "device/isa/op_names.hpp"
#include "okk.h"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu::arguments_test {
namespace {

struct Asked {
  void (*call)();
  const char* sentence;
};

void expect_refused(const char* chip, std::span<const Asked> rows) {
  for (const Asked& row : rows) {
    TestDevice device(chip);
    const LaunchOutcome outcome = device.run(row.call);
    EXPECT_FALSE(outcome.ok) << row.sentence;
    EXPECT_EQ(outcome.text.substr(0, outcome.text.find('\n')), row.sentence);
  }
}

TEST(Arguments, OfTpuKernelAreNamedWithValueAndLimit) {
  const Asked rows[] = {
      {[] { tpu_aligned_stride(nullptr, 0, nullptr, DT_FP32); }, "tpu_aligned_stride: shape is NULL."},
      {[] { tpu_bank_range(0, 0); }, "tpu_bank_range: size (0) must be positive."},
      {[] { tpu_local_mem_addr(64, 0); }, "tpu_local_mem_addr: NPU index (64) is outside 0..63."},
      {[] { tpu_local_mem_addr(-1, 0); }, "tpu_local_mem_addr: NPU index (-1) is outside 0..63."},
      {[] { tpu_local_mem_addr(0, 0x40000); },
       "tpu_local_mem_addr: offset (0x40000) is outside an NPU's local memory (262144 bytes)."},
      {[] { tpu_local_mem_addr_unified(0x1000000); },
       "tpu_local_mem_addr_unified: address (0x1000000) lies beyond local memory (16777216 bytes)."},
      {[] { tpu_npu_c_offset(-1, 1, DT_FP32); }, "tpu_npu_c_offset: c (-1) is negative."},
      {[] { tpu_set_mem_guard(-1, 0, 0, NON_READABLE); }, "tpu_set_mem_guard: id (-1) is negative."},
      {[] { tpu_set_mem_guard(1, 0, 0, NON_READABLE); }, "tpu_set_mem_guard: the range has no bytes."},
      {[] { tpu_flush_cache(0x10, 32); },
       "tpu_flush_cache: [0x10, +32 bytes) does not lie inside one memory of bm1684x."},
      {[] { tpu_data_type_size(DT_INT4); }, "tpu_data_type_size: 4-bit types have no size in bytes."},
      {[] { tpu_kernel_memset(nullptr, 0, 1); }, "tpu_kernel_memset: dst is NULL."},
      {[] { tpu_range_overlapped(nullptr, nullptr); }, "tpu_range_overlapped: a range is NULL."},
      {[] { tpu_bdc_send_msg(-1, 1); }, "tpu_bdc_send_msg: msg_id (-1) is negative."},
      {[] { sfu_taylor_exp_len(DT_INT8); }, "sfu_taylor_exp_len: dtype is not a float type."},
      {[] {
         const dim4 shape = {1, 1, 1, 1};
         tpu_gdma_reverse_S2S(0x100000000, 0x100001000, &shape, nullptr, nullptr, 4, DT_FP32);
       },
       "tpu_gdma_reverse_S2S: reverse_axis (4) is outside 0..3."},
  };
  expect_refused("bm1684x", rows);
}

// Today's BM1684X answers 0 (golden bm1688-varied: m_a/gdma_shape_limit/000).
TEST(Arguments, OfTheFirstBm1684xNameADimension) {
  const Asked rows[] = {{[] { tpu_gdma_shape_limit(4); }, "tpu_gdma_shape_limit: dim (4) is outside 0..3."}};
  expect_refused("bm1684x-23.05", rows);
}

TEST(Arguments, OfOkKernelAreNamedWithValueAndLimit) {
  const Asked rows[] = {
      {[] {
         const dim4 shape = {1, 1, 1, 1};
         okk_bdc_rsqrt(0, 0x41, &shape);
       },
       "okk_bdc_rsqrt: src address (0x41) is not a multiple of 128."},
  };
  expect_refused("bm1684", rows);
}

// The interface of a function is a column of its row, whatever its name.
TEST(Arguments, KnowTheInterfaceOfAFunctionFromItsRow) {
  EXPECT_EQ(info(Op::okk_bdc_add).api, Api::kOkKernel);
  EXPECT_EQ(info(Op::okk_initialize).api, Api::kOkKernel);
  EXPECT_EQ(info(Op::tpu_bdc_fp_add).api, Api::kTpuKernel);
  EXPECT_EQ(info(Op::__print_trace).api, Api::kTpuKernel);
  for (const OpInfo& row : all_ops()) EXPECT_EQ(row.api == Api::kOkKernel, row.name.starts_with("okk_")) << row.name;
}

}  // namespace
}  // namespace softtpu::arguments_test
