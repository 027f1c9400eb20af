// A program's view of libtpuv7_rt: a device, a stream, a module, and the lines that the library logs. Each test runs in
// its own process, as those of libbmlib.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/host/host_fixture.hpp"
#include "tests/tpuv7/kernels/rt_param.h"
#include "tpuv7/tpuv7_rt.h"

namespace softtpu::host_test {

// What the recorded runtime answers when device memory cannot be had or freed.
inline constexpr unsigned kMemoryRefused = 0xFFFFFFFF;

class Rt : public ::testing::Test {
 protected:
  void SetUp() override {
    bmlib_log_set_callback(&keep_log_line);
    ASSERT_EQ(tpuRtInit(), tpuRtSuccess);
    ASSERT_EQ(tpuRtSetDevice(0), tpuRtSuccess) << ::testing::PrintToString(take_log());
    ASSERT_EQ(tpuRtStreamCreate(&stream_), tpuRtSuccess);
    module_ = tpuRtKernelLoadModuleFile(SOFTTPU_TEST_RT_KERNELS, stream_);
    ASSERT_NE(module_, nullptr) << ::testing::PrintToString(take_log());
    memory_ = allocate(kWords * 4);
    ASSERT_EQ(tpuRtMemcpyS2D(memory_, std::vector<int>(kWords).data(), kWords * 4), tpuRtSuccess);
  }
  void TearDown() override {
    EXPECT_THAT(take_log(), ::testing::IsEmpty()) << "something was logged that the test did not look at";
  }

  void* allocate(unsigned long long bytes) {
    void* pointer = nullptr;
    EXPECT_EQ(tpuRtMalloc(&pointer, bytes, 0), tpuRtSuccess);
    return pointer;
  }
  std::vector<int> words() {
    std::vector<int> result(kWords);
    EXPECT_EQ(tpuRtMemcpyD2S(result.data(), memory_, kWords * 4), tpuRtSuccess);
    return result;
  }
  // What append() and slow_append() have left.
  std::vector<int> appended() {
    const std::vector<int> all = words();
    return {all.begin() + 1, all.begin() + 1 + all[0]};
  }
  rt_param_t args(int value) { return {reinterpret_cast<std::uintptr_t>(memory_), value, 0}; }
  tpuRtStatus_t launch(const char* name, int value, tpuRtStream_t stream = nullptr) {
    rt_param_t param = args(value);
    return tpuRtKernelLaunch(module_, name, &param, sizeof param, 1, 1, stream != nullptr ? stream : stream_);
  }
  tpuRtStatus_t queue(const char* name, int value, tpuRtStream_t stream = nullptr) {
    rt_param_t param = args(value);
    return tpuRtKernelLaunchAsync(module_, name, &param, sizeof param, 1, 1, stream != nullptr ? stream : stream_);
  }

  static constexpr std::size_t kWords = 1024;
  tpuRtStream_t stream_ = nullptr;
  tpuRtKernelModule_t module_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace softtpu::host_test
