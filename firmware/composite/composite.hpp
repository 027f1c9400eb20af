// One call of a function that issues the commands of other functions: checks all its arguments before the first step,
// so that a refused call changes no memory. After a violation the steps do nothing (sticky fault).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "device/command/checks.hpp"
#include "device/core/composite_scope.hpp"
#include "firmware/call.hpp"
#include "firmware/composite/steps.hpp"
#include "tpu_kernel.h"

namespace softtpu {

// Whether a source may be the same tensor as one that the function writes.
enum class SourceUse : std::uint8_t {
  kOnce,   // only the first step that writes reads it: it may be dst or a work buffer
  kToDst,  // read until the step that writes dst: it may be dst, but no work buffer
  kAgain,  // read after dst is written: it has to be a tensor of its own
};

class Composite {
 public:
  Composite(Op op, const dim4* shape, int dtype);
  Composite(Op op, const dim4* shape) : Composite(op, shape, DT_FP32) {}
  // Before steps() there is no chain to end: what is moved from then ends nothing.
  ~Composite() { call_.core().end_chain(); }
  Composite(Composite&&) = default;
  Composite(const Composite&) = delete;
  Composite& operator=(const Composite&) = delete;

  // Tensors of the call's shape and type in the aligned layout, all from the start NPU of the first one named.
  Composite& writes(std::string_view name, local_addr_t addr);
  Composite& reads(std::string_view name, local_addr_t addr, SourceUse use);
  // As reads, with the caller's strides.
  Composite& reads(std::string_view name, local_addr_t addr, const dim4* stride);
  // Coefficients: `length` elements on every NPU.
  Composite& table(std::string_view name, local_addr_t addr, int length);
  Composite& in_range(std::string_view name, int value, int low, int high) {
    checks_.in_range(name, value, low, high);
    return *this;
  }

  // The steps on the checked arguments; reports the violation, if there is one.
  Steps steps() const;
  const Call& call() const { return call_; }
  bool has(Quirk rule) const { return call_.chip().has(rule); }
  Dtype dtype() const { return dtype_; }

 private:
  // What an argument occupies in the local memory of each NPU.
  struct Extent {
    std::string_view name;
    std::uint64_t begin = 0, end = 0;
    bool written = false;
    SourceUse use = SourceUse::kAgain;

    bool may_be(const Extent& other) const {
      return begin == other.begin && (use == SourceUse::kOnce || (use == SourceUse::kToDst && other.name == "dst"));
    }
  };
  void tensor(std::string_view name, const Tensor& tensor, bool written, SourceUse use);
  void occupy(const Extent& extent);

  Call call_;
  CompositeScope steps_;
  Dim4 shape_;
  Dtype dtype_;
  Checks checks_;
  std::uint64_t first_addr_ = 0;
  std::string_view first_name_;
  std::array<Extent, 12> extents_;
  std::size_t extent_count_ = 0;
};

}  // namespace softtpu
