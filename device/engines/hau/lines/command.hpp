// Lines of memory by index, by the HAU. All operands lie in global memory or L2 SRAM.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// Line k of dst = line index[k] - start of param; an index outside [start, end] fills the line or leaves it.
struct HauLineGatherCmd {
  static constexpr CommandTraits kTraits{};
  Tensor dst, param, index;  // param begins with line `start`
  int line_num = 1;
  int start = 0;
  int end = 0;
  bool fill = false;
  Scalar constant;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "param", Operand(param), kSomeElements);
    f(Access::kRead, "index", Operand(index));
    f(fill ? Access::kWrite : Access::kReadWrite, "output", Operand(dst), Role{.all = fill});
  }
  template <class F>
  void numbers(F f) const {
    f("line_len", dst.shape.w);
    f("index_len", dst.shape.h);
    f("start", start);
    f("end", end);
    f("line_num", line_num);
  }
  bool operator==(const HauLineGatherCmd&) const = default;
};

}  // namespace softtpu
