// Element-wise BDC commands. Every command lists its operands once, in operands(f): f(access, name, operand).
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

enum class ArithMode : std::uint8_t { kAdd, kSub, kMul, kDiffAbs, kMax, kMin };

// dst = a <mode> b, element by element, all of dst's data type. A Scalar operand is broadcast.
struct ArithCmd {
  ArithMode mode = ArithMode::kAdd;
  Tensor dst;
  Operand a, b;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const ArithCmd&) const = default;
};

}  // namespace softtpu
