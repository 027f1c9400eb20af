// BDC commands between data types.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/engines/bdc/integer/command.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// dst = src in dst's data type.
struct CastCmd {
  static constexpr CommandTraits kTraits{.elementwise = true, .lane_local = true, .typed_result = true};
  static constexpr NoNumbers numbers{};
  Tensor dst, src;
  Rounding rounding = Rounding::kHalfToEven;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const CastCmd&) const = default;
};

// Through f32. kRequant: dst = integer of (f32(src) * scale + offset), offset is f32. kDequant: dst = f32(src - offset)
// * scale, offset is a 16-bit integer. Parameters are constants or one value per channel.
struct FloatQuantCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  Quant direction = Quant::kRequant;
  Tensor dst, src;
  Operand scale, offset;
  Rounding to_float = Rounding::kHalfToEven;
  Rounding to_int = Rounding::kHalfToEven;  // kRequant only
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "scale", scale);
    f(Access::kRead, "offset", offset);
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const FloatQuantCmd&) const = default;
};

}  // namespace softtpu
