// GDMA compression.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// How compression codes bytes: their distance from a bias (the most significant byte of an element has bias0, the
// others bias1); with zero_guard a zero byte always has the shortest code.
struct PackingRule {
  std::uint8_t bias0 = 0, bias1 = 0;
  bool zero_guard = false;
  bool operator==(const PackingRule&) const = default;
};

// Compresses `plain` (local) into `packed` (system), or back. One stream, or units for random access with their lengths
// in `meta`. In softtpu's form a unit is a row of w elements in its own slot of `packed`; the chip's own, `grouped`,
// has one for each n, as many channels as there are NPUs, and h. device/engines/dma/README.md gives the formats.
struct DmaCompressCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  bool expand = false;
  bool units = false;
  bool grouped = false;
  Tensor plain, packed, meta;
  PackingRule rule;
  template <class F>
  void operands(F f) const {
    f(expand ? Access::kWrite : Access::kRead, expand ? "dst" : "src", Operand(plain));
    f(expand ? Access::kRead : Access::kWrite, expand ? "src" : "dst", Operand(packed), kSomeElements);
    if (units) f(expand ? Access::kRead : Access::kWrite, "meta", Operand(meta), kSomeElements);
  }
  bool operator==(const DmaCompressCmd&) const = default;
};

}  // namespace softtpu
