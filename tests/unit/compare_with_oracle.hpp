// Runs a kernel on a device whose local memories hold a given image, and compares what is there afterwards with what an
// oracle expects: every byte of every NPU, so that a stray write is seen.
#pragma once

#include <gtest/gtest.h>

#include "device/memory/kernel_choice.hpp"
#include "device/memory/parallel.hpp"
#include "tests/reference/random_data.hpp"
#include "tests/unit/device_fixture.hpp"

namespace softtpu {

class OracleComparison : public testing::Test {
 protected:
  OracleComparison() : image_(static_cast<std::size_t>(reference::kNpus) * reference::kLocalBytes, 0xA5) {}
  ~OracleComparison() override {
    set_plain_kernels(false);
    set_thread_limit(0);
  }

  // With the fast loops, with the plain ones, and with one thread.
  void expect(const reference::Image& wanted, const std::function<void()>& kernel, const std::string& what) {
    for (int pass = 0; pass < 3; ++pass) {
      set_plain_kernels(pass == 1);
      set_thread_limit(pass == 2 ? 1 : 0);
      std::memcpy(device_.local<std::uint8_t>(0, 0), image_.data(), image_.size());
      const LaunchOutcome outcome = device_.run(kernel);
      ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
      const std::uint8_t* got = device_.local<std::uint8_t>(0, 0);
      if (std::memcmp(wanted.data(), got, wanted.size()) == 0) continue;
      const auto different = std::mismatch(wanted.begin(), wanted.end(), got);
      const auto at = different.first - wanted.begin();
      FAIL() << what << ", pass " << pass << ": NPU " << at / reference::kLocalBytes << " offset "
             << at % reference::kLocalBytes << " is " << int(got[at]) << ", expected " << int(*different.first);
    }
    device_.oracle().confirm();
  }

  TestDevice device_;
  reference::Image image_;
  reference::RandomData random_{11};
};

}  // namespace softtpu
