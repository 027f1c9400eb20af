// Suppression of boxes by the HAU. All operands lie in global memory or L2 SRAM.
#pragma once

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// Boxes that survive: bit i of dst for box i. keep_num 0 sets no limit.
struct HauHardNmsCmd {
  static constexpr CommandTraits kTraits{};
  Tensor dst,
      mask;  // mask [1, 1, boxes, boxes] of bytes: bit 0 of row i, column j is 0 when box i suppresses box j > i
  int keep_num = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(mask));
    f(Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("box_num", mask.shape.w);
    f("keep_num", keep_num);
  }
  bool operator==(const HauHardNmsCmd&) const = default;
};

// As above, box by box in the order of falling scores; a kept box multiplies the others' scores by its coefficients.
struct HauSoftNmsCmd {
  static constexpr CommandTraits kTraits{};
  Tensor dst, coeff, score;  // coeff [1, 1, boxes, boxes], score [1, 1, 1, boxes]
  float threshold = 0;
  int keep_num = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "iou", Operand(coeff));
    f(Access::kRead, "score", Operand(score));
    f(Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("box_num", score.shape.w);
    f("keep_num", keep_num);
  }
  bool operator==(const HauSoftNmsCmd&) const = default;
};

}  // namespace softtpu
