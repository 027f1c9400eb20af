// BDC commands that move elements by index or mask inside local memory.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// What an index counts, and how often it is given. `i` walks the output's columns (rows for kBatchH) in a gather, the
// parameter's in a scatter; the other side's position is the index.
enum class GatherMode : std::uint8_t {
  kW,       // columns; index [1, i, 1, 1], one for all n and c
  kHw,      // places in a channel; index [1, i, 1, 2]: column, row
  kBatchW,  // columns; index [n, c, 1, i]; the parameter has one batch
  kBatchH,  // rows of w elements; index [n, c, 1, i]; the parameter has one batch
};

struct GatherCmd {
  static constexpr CommandTraits kTraits{};
  GatherMode mode = GatherMode::kW;
  bool scatter = false;
  bool exception = false;   // the largest index value marks an element without a source
  bool fill = false;        // such elements become `constant`; otherwise they keep their content
  bool four_banks = false;  // the parameter lies in local memory four times, so that four indices are served at once
  Tensor dst, param, index;
  Scalar constant;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "param", Operand(param), Role{.all = scatter});
    f(Access::kRead, "index", Operand(index));
    f(scatter || exception ? Access::kReadWrite : Access::kWrite, "output", Operand(dst),
      Role{.all = !scatter && !exception});
  }
  template <class F>
  void numbers(F f) const {
    number_shape(f, dst.shape);
    f("param_h", param.shape.h);
    f("param_w", param.shape.w);
  }
  bool operator==(const GatherCmd&) const = default;
};

// Writes the parameter's columns whose mask is not zero densely to each row of dst, and their number to `count`.
struct MaskSelectCmd {
  static constexpr CommandTraits kTraits{};
  Tensor dst, count, param, mask;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "param", Operand(param));
    f(Access::kRead, "mask", Operand(mask));
    f(Access::kReadWrite, "output", Operand(dst), kSomeElements);
    f(Access::kWrite, "count", Operand(count));
  }
  template <class F>
  void numbers(F f) const {
    number_shape(f, dst.shape);
  }
  bool operator==(const MaskSelectCmd&) const = default;
};

}  // namespace softtpu
