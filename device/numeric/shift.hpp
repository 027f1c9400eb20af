// Integer shifts with the chip's rounding modes, and saturation (numerics: bm1684x-elementwise.md section 5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/isa/types.hpp"
#include "runtime/base/unreachable.hpp"

namespace softtpu {

__extension__ using Int128 = __int128;

// Smallest and largest value of an integer type.
struct IntRange {
  std::int64_t low = 0, high = 0;
};
constexpr IntRange range_of(Dtype type) {
  const int bits = type == Dtype::kInt4 || type == Dtype::kUint4 ? 4 : 8 * size_of(type);
  const std::int64_t span = std::int64_t{1} << bits;
  return is_signed_int(type) ? IntRange{-span / 2, span / 2 - 1} : IntRange{0, span - 1};
}

// What a Shifter does: ((value << left) + bias) >> right, with a bias for each sign, and more for odd results.
struct RoundedShift {
  int left, right;
  std::int64_t positive, negative, even;
};

// value / 2^right rounded, or value * 2^left: positive counts shift left. A right shift adds a bias and drops bits; the
// bias depends on the mode, on the sign, and for half-to-even on the lowest bit that is kept.
template <class Acc>
class Shifter {
 public:
  // No value of an Acc that is used here changes its shifted result beyond these counts: the product of two 32-bit
  // operands has 64 bits, so every rounding is decided and every saturation reached before.
  static constexpr int kMaxLeft = sizeof(Acc) > 8 ? 63 : 31;
  static constexpr int kMaxRight = sizeof(Acc) > 8 ? 100 : sizeof(Acc) == 8 ? 61 : 30;

  Shifter(int shift, Rounding mode) : left_(std::clamp(shift, 0, kMaxLeft)), right_(std::clamp(-shift, 0, kMaxRight)) {
    if (right_ == 0) return;
    const Acc half = Acc{1} << (right_ - 1);
    const Acc ones = (Acc{1} << right_) - 1;
    switch (mode) {
      case Rounding::kHalfToEven:
        positive_ = negative_ = half - 1;
        even_ = 1;
        return;
      case Rounding::kHalfAwayFromZero:
        positive_ = half;
        negative_ = half - 1;
        return;
      case Rounding::kTowardsZero: negative_ = ones; return;
      case Rounding::kDown: return;
      case Rounding::kUp: positive_ = negative_ = ones; return;
      case Rounding::kHalfUp: positive_ = negative_ = half; return;
      case Rounding::kHalfDown: positive_ = negative_ = half - 1; return;
    }
    unreachable(mode);
  }

  Acc operator()(Acc value) const {
    // Shifting left by multiplication is defined for negative values too.
    value = value * (Acc{1} << left_);
    return (value + (value < 0 ? negative_ : positive_) + (even_ & value >> right_)) >> right_;
  }
  RoundedShift steps() const requires(sizeof(Acc) <= 8) { return {left_, right_, positive_, negative_, even_}; }

 private:
  int left_, right_;
  Acc positive_ = 0, negative_ = 0, even_ = 0;
};

}  // namespace softtpu
