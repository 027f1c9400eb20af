// The macros of the public kernel headers mean what their names say.
#include <gtest/gtest.h>

#include "okk.h"
#include "tpu_defs.h"

namespace public_macros_test {
namespace {

TEST(PublicMacros, Arithmetic) {
  EXPECT_EQ(DIV_UP(7, 4), 2);
  EXPECT_EQ(DIV_UP(8, 4), 2);
  EXPECT_EQ(ALIGN(65, 64), 128);
  EXPECT_EQ(ALIGN(64, 64), 64);
  EXPECT_EQ(ALIGN(1 + 2, 1 + 3), 4);
  EXPECT_EQ(ALIGN_DOWN(127, 64), 64);
  EXPECT_EQ(MAX(3, 4), 4);
  EXPECT_EQ(MIN(3, 4), 3);
  EXPECT_EQ(DIV_UP(0u, 4u), 0u);
  EXPECT_EQ(2 * MAX(1, 2), 4);
}

float fp32(unsigned bits) {
  scalar_t value;
  value.u32 = bits;
  return value.f32;
}

TEST(PublicMacros, FloatConstants) {
  EXPECT_EQ(fp32(FP_ONE(DT_FP32)), 1.0f);
  EXPECT_EQ(fp32(FP_NEG_ONE(DT_FP32)), -1.0f);
  EXPECT_EQ(fp32(FP_MAX(DT_FP32)), 3.402823466e38f);
  EXPECT_EQ(fp32(FP_NEG_MAX(DT_FP32)), -3.402823466e38f);
  EXPECT_EQ(fp32(FP_ONE(DT_BFP16) << 16), 1.0f);
  EXPECT_EQ(fp32(FP_NEG_MAX(DT_BFP16) << 16), fp32(0xff7f0000U));
  scalar_t half;
  half.u32 = FP_ONE(DT_FP16);
  EXPECT_EQ(half.f16.format.exp, 15);
  EXPECT_EQ(half.f16.format.frac, 0);
  EXPECT_EQ(half.f16.format.sign, 0);
  EXPECT_EQ(FP_MAX(DT_FP16), 0x7bff);
  EXPECT_EQ(FP_MAX(DT_FP8E5M2), 0x7b);
  EXPECT_EQ(FP_NEG_MAX(DT_FP8E4M3), 0xfeU);
}

TEST(PublicMacros, OptionalOperands) {
  scalar_t value;
  value.u32 = 9;
  const optional_info_t constant = OPTIONAL_VALUE(DT_INT8, value);
  EXPECT_EQ(constant.is_const, 1);
  EXPECT_EQ(constant.dtype, DT_INT8);
  EXPECT_EQ(constant.value.u32, 9U);
  const optional_info_t tensor = OPTIONAL_ADDR(DT_UINT8, 4096);
  EXPECT_EQ(tensor.is_const, 0);
  EXPECT_EQ(tensor.addr, 4096U);
}

TEST(PublicMacros, FixedPointTypes) {
  EXPECT_EQ(OP_TYPE(1, 1, 0, 0, 1), S8_OP_U8_TO_S16);
  EXPECT_EQ(MUL_TYPE(1, 0, 1), S16_MUL_U8_TO_S16);
}

}  // namespace
}  // namespace public_macros_test
