// BM1684's fixed-point commands. Elements of 8 bits lie four to a 32-bit word (4N mode), of 16 bits two (2N mode):
// neighbours along N share a word. The tensors of these commands count words, shape and strides included.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class OkkFixedMode : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kMax,
  kMin,
  kMac,              // (old dst << lshift) + a * b
  kShiftArithmetic,  // a by the low 8 bits of b: left when positive, right when negative
  kShiftLogical,
  kHighByte,      // of a
  kLowByte,       // of a
  kMulHalves,     // (a * 256 + low) * b
  kMulMagnitude,  // |a| * b, clamped to 15 bits at each step, with the sign of a
};

// dst = (a <mode> b), half of the last place added, >> rshift, clamped to dst's type. Only the `batches` elements along
// N are written; those that fill up the last word stay as they are.
struct OkkFixedCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  OkkFixedMode mode = OkkFixedMode::kAdd;
  int batches = 1;
  int lshift = 0, rshift = 0;
  bool old_signed = false;                                                      // kMac: how the old dst is read
  Dtype dst_type = Dtype::kInt8, a_type = Dtype::kInt8, b_type = Dtype::kInt8;  // of the elements
  Tensor dst;
  Operand a = Scalar{}, b = Scalar{};
  Operand low = Scalar{};  // kMulHalves: the low bytes, unsigned
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src0", a);
    f(Access::kRead, "src1", b);
    if (mode == OkkFixedMode::kMulHalves) f(Access::kRead, "src0_low", low);
    f(mode == OkkFixedMode::kMac ? Access::kReadWrite : Access::kWrite, "dst", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("lshift", lshift);
    f("rshift", rshift);
    f("shape.n", batches);
  }
  bool operator==(const OkkFixedCmd&) const = default;
};

// dst (f32) = the 8-bit elements of src. packed: src is in 4N mode and counts words; else it is a plain tensor of
// bytes.
struct OkkWidenCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  bool packed = true;
  Dtype src_type = Dtype::kInt8;
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const OkkWidenCmd&) const = default;
};

}  // namespace softtpu
