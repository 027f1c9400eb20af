// Copies by DMA that compute on the way.
#pragma once

#include <cstdint>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

enum class ReduceMode : std::uint8_t { kCopy, kMul, kMax, kMin, kAdd };

// Which side of a copy holds FP20, the upper 20 bits of an fp32: as bytes, 51 values in each 128 of them.
enum class Lossy : std::uint8_t { kNone, kPacks, kUnpacks };
inline constexpr int kLossyValues = 51, kLossyBytes = 128;

// dst = src, or dst = dst <mode> src with `combine`.
struct DmaReduceCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  ReduceMode mode = ReduceMode::kCopy;
  bool combine = false;
  Lossy lossy = Lossy::kNone;
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(combine && mode != ReduceMode::kCopy ? Access::kReadWrite : Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaReduceCmd&) const = default;
};

}  // namespace softtpu
