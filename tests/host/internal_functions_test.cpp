// What tools and older programs call in libbmlib besides its published functions (bmlib_internal.h).
#include <string>
#include <vector>

#include "bmlib_internal.h"
#include "tests/host/host_fixture.hpp"

namespace softtpu::host_test {
namespace {

class InternalFunctions : public Host {};

TEST_F(InternalFunctions, CopiesThatPollAreCopies) {
  const std::vector<std::uint8_t> zeros(64), given{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::uint8_t> source(64, 9);
  bm_device_mem_t mem = upload(zeros);
  ASSERT_EQ(bm_memcpy_s2d_poll(handle_, mem, source.data()), BM_SUCCESS);
  EXPECT_EQ(download(mem), source);
  std::vector<std::uint8_t> part(8);
  ASSERT_EQ(bm_memcpy_d2s_poll(handle_, part.data(), mem, 8), BM_SUCCESS);
  EXPECT_EQ(part, std::vector<std::uint8_t>(8, 9));
  bm_device_mem_u64_t large{};
  ASSERT_EQ(bm_malloc_device_byte_u64(handle_, &large, 8), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_s2d_poll_u64(handle_, large, const_cast<std::uint8_t*>(given.data())), BM_SUCCESS);
  ASSERT_EQ(bm_memcpy_d2s_poll_u64(handle_, part.data(), large, 8), BM_SUCCESS);
  EXPECT_EQ(part, given);
  sg_device_mem_t other{};
  ASSERT_EQ(sg_malloc_device_byte(handle_, &other, 8), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_s2d_poll(handle_, other, source.data()), BM_SUCCESS);
  ASSERT_EQ(sg_memcpy_d2s_poll(handle_, part.data(), other, 8), BM_SUCCESS);
  EXPECT_EQ(part, std::vector<std::uint8_t>(8, 9));
  sg_free_device(handle_, other);
  bm_free_device_u64(handle_, large);
  bm_free_device(handle_, mem);
}

TEST_F(InternalFunctions, TheDriverHasAVersionAndAClock) {
  EXPECT_NE(bm_get_version(handle_), 0U);
  unsigned long first = 0, second = 0;
  ASSERT_EQ(bm_get_device_time_us(handle_, &first), BM_SUCCESS);
  ASSERT_EQ(bm_get_device_time_us(handle_, &second), BM_SUCCESS);
  EXPECT_GE(second, first);
  EXPECT_REFUSED(bm_get_device_time_us(handle_, nullptr), BM_ERR_PARAM, "bm_get_device_time_us", "time_us is NULL");
  EXPECT_EQ(bm_sync_api(handle_), BM_SUCCESS);
  EXPECT_EQ(bm_sync_api_from_core(handle_, 0), BM_SUCCESS);
}

TEST_F(InternalFunctions, WhatTheChipsFirmwareDoesIsRefusedByName) {
  const u8 message[4] = {};
  u64 number = 0;
  constexpr const char* kWhy = "message 7 is for the chip's firmware";
  EXPECT_REFUSED(bm_send_api(handle_, 7, message, 4), BM_NOT_SUPPORTED, "bm_send_api", kWhy);
  EXPECT_REFUSED(bm_send_api_ext(handle_, 7, message, 4, &number), BM_NOT_SUPPORTED, "bm_send_api_ext", kWhy);
  EXPECT_REFUSED(bm_send_api_to_core(handle_, 7, message, 4, 0), BM_NOT_SUPPORTED, "bm_send_api_to_core", kWhy);
  int valid = 0;
  EXPECT_REFUSED(bm_is_seckey_valid(handle_, &valid), BM_ERR_NOFEATURE, "bm_is_seckey_valid", "keys");
  EXPECT_REFUSED(bm_set_clk_tpu_divider(handle_, 2), BM_ERR_NOFEATURE, "bm_set_clk_tpu_divider", "the clock");
  EXPECT_REFUSED(bm_set_module_reset(handle_, MODULE_ID{}), BM_ERR_NOFEATURE, "bm_set_module_reset", "a reset");
}

}  // namespace
}  // namespace softtpu::host_test
