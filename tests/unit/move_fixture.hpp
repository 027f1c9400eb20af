// Random programs for the functions that move data: fills a device's memories, runs one call, does the same with the
// plain reference on a copy, and compares every byte of local memory and of a window of global memory.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "tests/reference/moves.hpp"
#include "tests/unit/device_fixture.hpp"
#include "tpu_kernel.h"

namespace softtpu {

class MoveTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kWindow = 1 << 16;  // bytes of global memory that a case uses

  explicit MoveTest(const std::string& chip = "demo4") : device(chip) { model.chip = &device.chip(); }
  ~MoveTest() override { choose(false); }

  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }
  bool coin() { return between(0, 1) == 1; }
  data_type_t type_of_size(int size) {
    constexpr data_type_t kTypes[][3] = {
        {DT_INT8, DT_UINT8, DT_INT8}, {DT_FP16, DT_UINT16, DT_BFP16}, {DT_FP32, DT_INT32, DT_UINT32}};
    return kTypes[size / 2][between(0, 2)];
  }
  int element_size() { return 1 << between(0, 2); }
  int npu() { return between(0, device.chip().npu_num - 1); }
  std::uint64_t unified(int first_npu, int offset) const {
    return static_cast<std::uint64_t>(first_npu) * device.chip().local_bytes + static_cast<unsigned>(offset);
  }

  // New contents for both sides. A large local memory gets them once: later calls find what earlier ones left.
  void scramble() {
    const bool is_small = local().size() < (1 << 20);
    if (is_small) {
      fill(local().data(), local().size());
    } else if (model.local.empty()) {
      device.begin_with(reference::Background::made(
          local().size(), [&](std::uint8_t* bytes) { fill(bytes, device.chip().local_mem.bytes); }));
    }
    fill(window(), kWindow);
    if (is_small || model.local.empty()) model.local = local();
    take_window();
  }
  void take_copy() {
    model.local = local();
    take_window();
  }
  // What a test changed in the model becomes the device's.
  void write_back() {
    local() = model.local;
    std::memcpy(window(), model.global.data(), kWindow);
  }
  void expect_equal(const std::string& what) {
    ASSERT_TRUE(model.local == local()) << "local memory differs after " << what;
    ASSERT_EQ(std::memcmp(model.global.data(), window(), kWindow), 0) << "global memory differs after " << what;
    device.oracle().confirm();
  }
  // Runs the call with one thread and the plain loops, then with many and the fast ones: the bytes have to be the same.
  void expect_accepted(const std::function<void()>& kernel, const std::string& what) {
    before_.take(*this);
    choose(true);
    ASSERT_NO_FATAL_FAILURE(run(kernel, what));
    plain_.take(*this);
    before_.put(*this);
    choose(false);
    ASSERT_NO_FATAL_FAILURE(run(kernel, what));
    ASSERT_TRUE(plain_.local == local()) << "one thread differs from many: " << what;
    ASSERT_EQ(std::memcmp(plain_.global.data(), window(), kWindow), 0) << "one thread differs from many: " << what;
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
  // The contents of both memories.
  struct Contents {
    reference::Image local;
    std::vector<std::uint8_t> global;
    void take(MoveTest& test) {
      local = test.local();
      global.assign(test.window(), test.window() + kWindow);
    }
    void put(MoveTest& test) const {
      test.local() = local;
      std::memcpy(test.window(), global.data(), global.size());
    }
  };

  reference::Image& local() { return device.local_image(); }
  std::uint8_t* window() { return device.global<std::uint8_t>(device.scratch()); }
  void take_window() {
    model.global.assign(window(), window() + kWindow);
    model.global_base = device.scratch();
  }
  static void choose(bool plain) {
    set_plain_kernels(plain);
    set_thread_limit(plain ? 1 : 0);
  }
  void run(const std::function<void()>& kernel, const std::string& what) {
    const LaunchOutcome outcome = device.run(kernel);
    ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
  }
  void fill(std::uint8_t* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; i += 8) {
      const std::uint64_t value = std::uint64_t{random()} << 32 | random();
      std::memcpy(bytes + i, &value, sizeof(value));
    }
  }

  Contents before_, plain_;
};

// Tests that run on the small chip, where little memory has to be compared, and on BM1684X.
class ChipMoveTest : public MoveTest, public ::testing::WithParamInterface<const char*> {
 protected:
  ChipMoveTest() : MoveTest(GetParam()) {}

  bool small_chip() const { return device.chip().npu_num < 64; }
  // Cases of a function: a case costs more where the memory is larger.
  int cases() const { return small_chip() ? 40 : 15; }
  int channels() { return between(1, coin() ? 9 : 2 * device.chip().npu_num + 2); }
};
inline const auto kMoveChips = ::testing::Values("demo4", "bm1684x-23.05");
inline std::string chip_name(const ::testing::TestParamInfo<const char*>& chip) {
  std::string name = chip.param;
  for (char& letter : name)
    if (letter == '-' || letter == '.') letter = '_';
  return name;
}

inline dim4 to_dim4(const reference::Extents& shape) { return {shape[0], shape[1], shape[2], shape[3]}; }
inline dim4 to_dim4(const reference::Strides& stride) {
  return {static_cast<int>(stride[0]), static_cast<int>(stride[1]), static_cast<int>(stride[2]),
          static_cast<int>(stride[3])};
}

}  // namespace softtpu
