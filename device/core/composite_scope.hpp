// Which function the kernel called, while that issues the commands of others.
#pragma once

#include <utility>

#include "device/core/core.hpp"

namespace softtpu {

// While it lives, commands of this core are steps of a function that the kernel called: the outermost one counts.
class CompositeScope {
 public:
  CompositeScope(Core& core, Op function) : core_(core.composite() ? nullptr : &core) {
    if (core_ != nullptr) core_->set_composite(function);
  }
  ~CompositeScope() {
    if (core_ != nullptr) core_->set_composite({});
  }
  CompositeScope(CompositeScope&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  CompositeScope(const CompositeScope&) = delete;
  CompositeScope& operator=(const CompositeScope&) = delete;

 private:
  Core* core_;  // nullptr: another scope is the outermost
};

}  // namespace softtpu
