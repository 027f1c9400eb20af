// Element-wise BDC commands of one data type. Every command lists its operands once, in operands(f): f(access, name,
// operand).
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class ArithMode : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiffAbs,
  kMax,
  kMin,
  kAddSquare,  // (a + b)^2
  kSubSquare,  // (a - b)^2
  kPrelu,      // a > 0 ? a : a * b
  kAnd,
  kOr,
  kXor,
};

// dst = a <mode> b, element by element, all of dst's data type. A Scalar operand is broadcast.
struct ArithCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true, .typed_result = true};
  static constexpr NoNumbers numbers{};
  ArithMode mode = ArithMode::kAdd;
  Tensor dst;
  Operand a, b;
  bool exchanged = false;   // `a` is what the caller names src1
  bool keeps_nans = false;  // also where every computed f32 NaN is the same one
  const char* name_of_a() const { return exchanged ? "src1" : "src0"; }
  const char* name_of_b() const { return exchanged ? "src0" : "src1"; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, name_of_a(), a);
    f(Access::kRead, name_of_b(), b);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const ArithCmd&) const = default;
};

enum class UnaryMode : std::uint8_t { kAbs, kNeg, kNot, kSign, kRound };

// dst = <mode> src. `rounding` belongs to kRound: to an integral value.
struct UnaryCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  UnaryMode mode = UnaryMode::kAbs;
  Rounding rounding = Rounding::kHalfToEven;
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const UnaryCmd&) const = default;
};

// dst = src on the same NPU; a Scalar fills dst.
struct CopyCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true};
  static constexpr NoNumbers numbers{};
  Tensor dst;
  Operand src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", src);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const CopyCmd&) const = default;
};

// dst = bias + scale * src, rounded after the product and after the sum.
struct ScaleBiasCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true, .typed_result = true};
  static constexpr NoNumbers numbers{};
  Tensor dst, src;
  Operand scale, bias;
  double operations() const { return 2.0 * static_cast<double>(dst.shape.elements()); }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "scale", scale);
    f(Access::kRead, "bias", bias);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const ScaleBiasCmd&) const = default;
};

// fp32: dst = a * b + dst, rounded twice. 8-bit integers into a 16-bit dst: ((dst << lshift) + a * b) >> rshift,
// rounded and clamped.
struct MacCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true, .typed_result = true};
  Tensor dst;
  Operand a, b;
  int lshift = 0, rshift = 0;
  Rounding rounding = Rounding::kHalfToEven;
  double operations() const { return 2.0 * static_cast<double>(dst.shape.elements()); }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kReadWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("lshift", lshift);
    f("rshift", rshift);
  }
  bool operator==(const MacCmd&) const = default;
};

// dst = src <mode> constant, or constant <mode> src, each of its own float type; rounded once. `saturate`: what
// overflows becomes the largest finite value.
struct MixedArithCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  ArithMode mode = ArithMode::kAdd;  // kAdd, kSub, kMul
  Tensor dst, src;
  Scalar constant;
  bool constant_first = false;
  bool saturate = false;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "C", Operand(constant));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const MixedArithCmd&) const = default;
};

}  // namespace softtpu
