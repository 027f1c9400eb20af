// A device for unit tests: memories and one core in this process; kernels are lambdas that call tpu_* and okk_*.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/core/core.hpp"
#include "tests/reference/image.hpp"
#include "tests/unit/oracle_count.hpp"

namespace softtpu {

class TestDevice {
 public:
  // By default the revision whose results the oracles of these tests state.
  explicit TestDevice(const std::string& chip_name = "bm1684x-23.05") {
    auto chip = load_chip(chip_name);
    EXPECT_TRUE(chip) << chip.error().text;
    auto memories = Memories::create(*chip);
    EXPECT_TRUE(memories) << memories.error().text;
    memories_ = std::move(*memories);
    begin_with(reference::Background::zeros(chip->local_mem.bytes));
    core_ = std::make_unique<Core>(*memories_, 0);
    core_->add_observer(oracle_);
  }

  // Runs `kernel` on the core as a launch.
  LaunchOutcome run(const std::function<void()>& kernel) {
    LaunchOutcome outcome = core_->run(
        [](const void* argument) { (*static_cast<const std::function<void()>*>(argument))(); }, "test", &kernel);
    if (!outcome.ok) oracle_->forget();
    return outcome;
  }
  // To be told of every result that an oracle confirms.
  OracleCount& oracle() { return *oracle_; }
  // Runs a kernel that must be refused: the fault mentions `text`, and local memory does not change.
  void expect_fault(const std::function<void()>& kernel, const std::string& text) {
    const reference::Image before = *local_image_;
    const LaunchOutcome outcome = run(kernel);
    EXPECT_FALSE(outcome.ok) << "accepted, but has to be refused: " << text;
    EXPECT_NE(outcome.text.find(text), std::string::npos) << outcome.text;
    EXPECT_TRUE(before == *local_image_) << "a refused call changed local memory";
  }

  Memories& memories() { return *memories_; }
  Core& core() { return *core_; }
  const Chip& chip() const { return memories_->chip(); }

  template <class T>
  T* local(int npu, std::uint32_t offset) {
    return reinterpret_cast<T*>(memories_->local(npu) + offset);
  }
  // An address in global memory that programs may use.
  std::uint64_t scratch(std::uint64_t offset = 0) const {
    return chip().global_mem.start + chip().global_reserved + offset;
  }
  template <class T>
  T* global(std::uint64_t address) {
    return reinterpret_cast<T*>(memories_->global() + (address - chip().global_mem.start));
  }

  // All of local memory, to be copied, compared and put back.
  reference::Image& local_image() { return *local_image_; }
  // From now on local memory holds these bytes.
  void begin_with(reference::Background::Shared background) {
    local_image_.emplace(std::move(background), memories_->local(0));
  }
  std::vector<std::uint8_t> local_bytes() const {
    const std::uint8_t* begin = memories_->local(0);
    return {begin, begin + chip().local_mem.bytes};
  }

 private:
  std::unique_ptr<Memories> memories_;
  std::shared_ptr<OracleCount> oracle_ = std::make_shared<OracleCount>();
  std::unique_ptr<Core> core_;
  std::optional<reference::Image> local_image_;
};

}  // namespace softtpu
