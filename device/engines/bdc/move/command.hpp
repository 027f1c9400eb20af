// BDC commands that move or generate elements without computing.
#pragma once

#include <cstdint>

#include "device/command/moves.hpp"
#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// dst = src across NPUs, or from static memory. dst and src carry the shape of their own side; a source with one
// channel goes to every channel of dst.
struct CrossCopyCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  CopyOrder order = CopyOrder::kNchw;
  Tensor dst, src;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const CrossCopyCmd&) const = default;
};

// Element i of dst, counted over channels and then along a row, is start + i * step (modulo 2^bits); with `repeat`
// every channel holds the same row.
struct SequenceCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Tensor dst;
  std::int32_t start = 0, step = 0;
  bool repeat = false;
  template <class F>
  void operands(F f) const {
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const SequenceCmd&) const = default;
};

// Random bytes: dst [1, c, 1, w] is what the generators of each channel give, started from `seed` plus the channel and
// `first`; `jump` moves their start. With `keeps`, state [1, c, 1, 32] takes their 64-bit states behind dst's numbers.
struct RandomCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Tensor dst, state;
  std::uint64_t seed = 0;
  std::int32_t jump = 0, first = 0;
  bool keeps = false;
  template <class F>
  void operands(F f) const {
    f(Access::kWrite, "dst", Operand(dst));
    if (keeps) f(Access::kWrite, "state", Operand(state));
  }
  bool operator==(const RandomCmd&) const = default;
};

}  // namespace softtpu
