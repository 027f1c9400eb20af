// GDMA commands.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

enum class CopyOrder : std::uint8_t {
  kNchw,  // dst(n, c, h, w) = src(n, c, h, w)
  kCnhw,  // dst(n, c, h, w) = src(c, n, h, w)
  kNwhc,  // dst(n, c, h, w) = src(n, w, h, c)
};

// Moves a tensor between memories. dst and src carry the shape of their own side.
struct DmaCopyCmd {
  CopyOrder order = CopyOrder::kNchw;
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaCopyCmd&) const = default;
};

}  // namespace softtpu
