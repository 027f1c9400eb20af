// A program's view of libbmlib: a handle on device 0 (or the one that a fixture names), and the lines that the library
// logs. Each test runs in its own process, so that environment variables set before the first request hold for it
// alone.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "bmlib_runtime.h"

namespace softtpu::host_test {

// What the library logged since the last call of take_log().
inline std::vector<std::string>& log_lines() {
  static std::vector<std::string> lines;
  return lines;
}

inline void keep_log_line(const char* /*tag*/, int /*level*/, const char* format, va_list args) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, args);
  log_lines().emplace_back(text);
}

inline std::vector<std::string> take_log() {
  std::vector<std::string> lines;
  lines.swap(log_lines());
  return lines;
}

// A status and exactly one line that begins with the function's name and mentions `text`.
#define EXPECT_REFUSED(call, expected_status, function, text) \
  do {                                                        \
    take_log();                                               \
    EXPECT_EQ((call), (expected_status));                     \
    EXPECT_ONE_LINE(function, text);                          \
  } while (0)

#define EXPECT_ONE_LINE(function, text)                                                 \
  do {                                                                                  \
    const std::vector<std::string> softtpu_lines = take_log();                          \
    ASSERT_EQ(softtpu_lines.size(), 1U) << ::testing::PrintToString(softtpu_lines);     \
    EXPECT_THAT(softtpu_lines[0], ::testing::StartsWith(std::string(function) + ": ")); \
    EXPECT_THAT(softtpu_lines[0], ::testing::HasSubstr(text));                          \
  } while (0)

class Host : public ::testing::Test {
 protected:
  void SetUp() override {
    bmlib_log_set_callback(&keep_log_line);
    ASSERT_EQ(bm_dev_request(&handle_, device_id_), BM_SUCCESS) << ::testing::PrintToString(take_log());
  }
  void TearDown() override {
    bm_dev_free(handle_);
    EXPECT_THAT(take_log(), ::testing::IsEmpty()) << "something was logged that the test did not look at";
  }

  bm_device_mem_t allocate(unsigned bytes) {
    bm_device_mem_t mem;
    EXPECT_EQ(bm_malloc_device_byte(handle_, &mem, bytes), BM_SUCCESS);
    return mem;
  }
  bm_device_mem_t upload(const std::vector<std::uint8_t>& bytes) {
    const bm_device_mem_t mem = allocate(static_cast<unsigned>(bytes.size()));
    EXPECT_EQ(bm_memcpy_s2d(handle_, mem, const_cast<std::uint8_t*>(bytes.data())), BM_SUCCESS);
    return mem;
  }
  std::vector<std::uint8_t> download(const bm_device_mem_t& mem) {
    std::vector<std::uint8_t> bytes(mem.size);
    EXPECT_EQ(bm_memcpy_d2s(handle_, bytes.data(), mem), BM_SUCCESS);
    return bytes;
  }

  int device_id_ = 0;
  bm_handle_t handle_ = nullptr;
};

// 0, 1, 2 ... modulo 251, from `first` on.
inline std::vector<std::uint8_t> pattern(std::size_t count, unsigned first = 0) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>((first + i) % 251);
  return bytes;
}

}  // namespace softtpu::host_test
