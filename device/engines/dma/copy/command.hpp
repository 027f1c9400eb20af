// GDMA copies, fills and moves of matrices.
#pragma once

#include <cstdint>

#include "device/command/moves.hpp"
#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// Moves a tensor between memories. dst and src carry the shape of their own side.
struct DmaCopyCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  CopyOrder order = CopyOrder::kNchw;
  Tensor dst, src;
  std::uint64_t npus = kAllNpus;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaCopyCmd&) const = default;
};

// Sets every element of dst to value. `block`: dst is contiguous memory of any length.
struct DmaFillCmd {
  static constexpr CommandTraits kTraits{};
  static constexpr NoNumbers numbers{};
  Tensor dst;
  Scalar value;
  bool block = false;
  std::uint64_t npus = kAllNpus;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "C", Operand(value));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaFillCmd&) const = default;
};

// Moves a matrix between system memory, shape [rows, 1, 1, cols], and local memory, where shape [rows, channels, 1,
// columns per channel] spreads a row's columns over channels; the last channel may be partly used. `transposed`: the
// local matrix is the transpose of the one in system memory.
struct DmaMatrixCmd {
  static constexpr CommandTraits kTraits{};
  Tensor dst, src;
  bool transposed = false;
  std::uint64_t npus = kAllNpus;
  const Tensor& system() const { return dst.space == Space::kLocal ? src : dst; }
  Role role_of(const Tensor& side) const {
    if (side.space != Space::kLocal) return {};
    const Dim4& matrix = system().shape;
    return {.last_channel = last_channel_of(transposed ? matrix.n : matrix.w, side.shape.w)};
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src), role_of(src));
    f(Access::kWrite, "dst", Operand(dst), role_of(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("rows", system().shape.n);
    f("cols", system().shape.w);
  }
  bool operator==(const DmaMatrixCmd&) const = default;
};

}  // namespace softtpu
