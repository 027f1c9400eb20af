// HAU commands. All operands lie in global memory or L2 SRAM.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

enum class SortIndex : std::uint8_t {
  kNone,
  kNatural,  // dst_index receives the elements' positions in src
  kGiven,    // dst_index receives the elements of src_index
};

// dst = the first dst.shape.w elements of src in sorted order. Equal keys are ordered by index, unsigned and ascending
// in both directions.
struct HauSortCmd {
  SortIndex index = SortIndex::kNone;
  bool descending = false;
  Tensor dst, dst_index, src, src_index;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(src));
    if (index == SortIndex::kGiven) f(Access::kRead, "input_idx", Operand(src_index));
    f(Access::kWrite, "output", Operand(dst));
    if (index != SortIndex::kNone) f(Access::kWrite, "output_idx", Operand(dst_index));
  }
  bool operator==(const HauSortCmd&) const = default;
};

// Boxes that survive: bit i of dst for box i. keep_num 0 sets no limit.
struct HauHardNmsCmd {
  Tensor dst,
      mask;  // mask [1, 1, boxes, boxes] of bytes: bit 0 of row i, column j is 0 when box i suppresses box j > i
  int keep_num = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(mask));
    f(Access::kWrite, "output", Operand(dst));
  }
  bool operator==(const HauHardNmsCmd&) const = default;
};

// As above, box by box in the order of falling scores; a kept box multiplies the others' scores by its coefficients.
struct HauSoftNmsCmd {
  Tensor dst, coeff, score;  // coeff [1, 1, boxes, boxes], score [1, 1, 1, boxes]
  float threshold = 0;
  int keep_num = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "iou", Operand(coeff));
    f(Access::kRead, "score", Operand(score));
    f(Access::kWrite, "output", Operand(dst));
  }
  bool operator==(const HauSoftNmsCmd&) const = default;
};

// Line k of dst = line index[k] - start of param; an index outside [start, end] fills the line or leaves it.
struct HauLineGatherCmd {
  Tensor dst, param, index;  // param begins with line `start`
  int line_num = 1;
  int start = 0;
  int end = 0;
  bool fill = false;
  Scalar constant;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "param", Operand(param));
    f(Access::kRead, "index", Operand(index));
    f(fill ? Access::kWrite : Access::kReadWrite, "output", Operand(dst));
  }
  bool operator==(const HauLineGatherCmd&) const = default;
};

}  // namespace softtpu
