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
  OracleComparison() { device_.begin_with(background()); }
  ~OracleComparison() override {
    set_plain_kernels(false);
    set_thread_limit(0);
  }

  // With the fast loops, with the plain ones, and with one thread.
  void expect(const reference::Image& wanted, const std::function<void()>& kernel, const std::string& what) {
    for (int pass = 0; pass < 3; ++pass) {
      set_plain_kernels(pass == 1);
      set_thread_limit(pass == 2 ? 1 : 0);
      device_.local_image() = image_;
      const LaunchOutcome outcome = device_.run(kernel);
      ASSERT_TRUE(outcome.ok) << what << ": " << outcome.text;
      const auto different = wanted.find_difference(device_.local_image());
      if (!different) continue;
      FAIL() << what << ", pass " << pass << ": NPU " << *different / reference::kLocalBytes << " offset "
             << *different % reference::kLocalBytes << " is " << int(device_.local_image()[*different]) << ", expected "
             << int(wanted[*different]);
    }
    device_.oracle().confirm();
  }

  TestDevice device_;
  reference::Image image_{background()};
  reference::RandomData random_{11};

 private:
  static const reference::Background::Shared& background() {
    static const auto made =
        reference::Background::filled(std::size_t{reference::kNpus} * std::size_t{reference::kLocalBytes}, 0xA5);
    return made;
  }
};

}  // namespace softtpu
