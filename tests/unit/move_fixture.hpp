// Random programs for the functions that move data: fills a device's memories, runs one call, does the same with the
// plain reference on a copy, and compares every byte of local memory and of a window of global memory.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "tests/reference/moves.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu {

class MoveTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kWindow = 1 << 16;  // bytes of global memory that a case uses

  explicit MoveTest(const std::string& chip = "demo4") : device(chip) { model.chip = &device.chip(); }

  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  bool coin() { return between(0, 1) == 1; }
  data_type_t type_of_size(int size) {
    if (size == 1) return coin() ? DT_INT8 : DT_UINT8;
    if (size == 2) return coin() ? DT_FP16 : DT_UINT16;
    return coin() ? DT_FP32 : DT_INT32;
  }
  int element_size() { return 1 << between(0, 2); }
  int npu() { return between(0, device.chip().npu_num - 1); }
  std::uint64_t unified(int first_npu, int offset) const {
    return static_cast<std::uint64_t>(first_npu) * device.chip().local_bytes + static_cast<unsigned>(offset);
  }

  // New contents for both sides.
  void scramble() {
    for (std::size_t i = 0; i < device.chip().local_mem.bytes; i += 8) word(device.memories().local(0) + i);
    for (std::size_t i = 0; i < kWindow; i += 8) word(device.global<std::uint8_t>(device.scratch()) + i);
    take_copy();
  }
  void take_copy() {
    const std::uint8_t* global = device.global<std::uint8_t>(device.scratch());
    model.local = device.local_bytes();
    model.global.assign(global, global + kWindow);
    model.global_base = device.scratch();
  }
  void expect_equal(const std::string& what) {
    const std::uint8_t* global = device.global<std::uint8_t>(device.scratch());
    ASSERT_TRUE(model.local == device.local_bytes()) << "local memory differs after " << what;
    ASSERT_EQ(std::memcmp(model.global.data(), global, kWindow), 0) << "global memory differs after " << what;
    device.oracle().confirm();
  }
  void expect_accepted(const std::function<void()>& kernel, const std::string& what) {
    const LaunchOutcome outcome = device.run(kernel);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
  }
  // A refused call: the fault names the function and `text`, and no byte changes.
  void expect_refused(const std::function<void()>& kernel, const std::string& text) {
    take_copy();
    const LaunchOutcome outcome = device.run(kernel);
    EXPECT_FALSE(outcome.ok) << "accepted, but has to be refused: " << text;
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
    expect_equal(text);
  }

  // --gtest_random_seed=N tries other values; without it every run is the same.
  std::mt19937 random{20240U + static_cast<unsigned>(GTEST_FLAG_GET(random_seed))};
  TestDevice device;
  reference::Memory model;

 private:
  void word(std::uint8_t* at) {
    const std::uint64_t value = std::uint64_t{random()} << 32 | random();
    std::memcpy(at, &value, sizeof(value));
  }
};

inline dim4 to_dim4(const reference::Extents& shape) { return {shape[0], shape[1], shape[2], shape[3]}; }
inline dim4 to_dim4(const reference::Strides& stride) {
  return {static_cast<int>(stride[0]), static_cast<int>(stride[1]), static_cast<int>(stride[2]),
          static_cast<int>(stride[3])};
}

}  // namespace softtpu
