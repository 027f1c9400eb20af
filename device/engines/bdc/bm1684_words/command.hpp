// Commands that only BM1684's functions (okk_*) issue: their arithmetic has no equal among BM1684X's commands.
#pragma once

#include <cstdint>
#include <optional>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class OkkWordMode : std::uint8_t {
  kDiv,  // by squared reciprocal square root, not correctly rounded
  kMin,  // passes its operand on without flushing it
  kAnd,
  kOr,
  kXor,
  kShiftArithmetic,  // left by the low 6 bits of b when positive, right when negative
  kShiftLogical,
};

// dst = a <mode> b on 32-bit elements.
struct OkkWordCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  OkkWordMode mode = OkkWordMode::kDiv;
  Tensor dst;
  Operand a, b;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const OkkWordCmd&) const = default;
};

enum class OkkUnaryMode : std::uint8_t {
  kCopy,
  kRelu,
  kRsqrt,
  kSqrt,
  kToInt32,     // truncating, saturating
  kLookupInt,   // table of the 256 values of int8
  kLookupExp,   // table of e^i
  kLookupByte,  // table of the 256 values of uint8, of networks
};

// dst = mode(src) on 32-bit elements.
struct OkkUnaryCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  OkkUnaryMode mode = OkkUnaryMode::kCopy;
  Tensor dst;
  Operand src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", src);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const OkkUnaryCmd&) const = default;
};

// dst = sum of x^k / k! for k = 0..terms, or for k = 1..terms when `without_one`.
struct OkkTaylorCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  Tensor dst, src;
  int terms = 1;
  bool without_one = false;
  double operations() const { return 2.0 * static_cast<double>(dst.shape.elements()) * terms; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("number of series terms", terms);
  }
  bool operator==(const OkkTaylorCmd&) const = default;
};

enum class OkkCompare : std::uint8_t {
  kGreater,   // as f32, subnormals are zero
  kEqual,     // neither is greater
  kSameBits,  // the 32 bits agree
};

// dst = (a <compare> b) ? yes : no, on 32-bit elements.
struct OkkSelectCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  OkkCompare compare = OkkCompare::kGreater;
  Tensor dst;
  Operand a, b, yes, no;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kRead, "select0", yes);
    f(Access::kRead, "select1", no);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const OkkSelectCmd&) const = default;
};

// dst = a * b + c in f32, rounded after each step.
struct OkkMulAddCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  Tensor dst;
  Operand a, b, c;
  double operations() const { return 2.0 * static_cast<double>(dst.shape.elements()); }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    f(Access::kRead, "addend", c);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const OkkMulAddCmd&) const = default;
};

}  // namespace softtpu
