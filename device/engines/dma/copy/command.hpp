// GDMA commands.
#pragma once

#include <cstdint>

#include "device/isa/types.hpp"

namespace softtpu {

// NPUs that a command of the destination's memory leaves as they are have a zero bit here.
inline constexpr std::uint64_t kAllNpus = ~std::uint64_t{0};

// Which element of the source each element of the destination receives.
enum class CopyOrder : std::uint8_t {
  kNchw,        // dst(n, c, h, w) = src(n, c, h, w)
  kCnhw,        // dst(n, c, h, w) = src(c, n, h, w)
  kNwhc,        // dst(n, c, h, w) = src(n, w, h, c)
  kReshape,     // both walked in n, c, h, w order; the shapes differ, the number of elements does not
  kOneChannel,  // dst(n, c, h, w) = src(n, 0, h, w)
  kReverseN,    // dst(n, c, h, w) = src(N - 1 - n, c, h, w), and the same for the other dimensions
  kReverseC,
  kReverseH,
  kReverseW,
  kBlock,  // contiguous memory, as memmove does; the only length limit is the memory's
};

// Moves a tensor between memories. dst and src carry the shape of their own side.
struct DmaCopyCmd {
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
  Tensor dst, src;
  bool transposed = false;
  std::uint64_t npus = kAllNpus;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaMatrixCmd&) const = default;
};

enum class RowsMode : std::uint8_t {
  kGather,      // dst(c, h) = param(c, index(c, h)); an index outside the parameter gives `fill`
  kScatter,     // dst(c, index(c, h)) = param(c, h), h ascending; an index outside dst is skipped
  kScatterAdd,  // as kScatter, adding to what dst holds
};

// Rows of w elements moved by 32-bit indices, counted from `start`. All shapes have n = 1; the index has w = 1.
struct DmaRowsCmd {
  RowsMode mode = RowsMode::kGather;
  Tensor dst, param, index;
  Scalar fill;
  std::uint32_t start = 0;
  std::uint64_t npus = kAllNpus;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "param", Operand(param));
    f(Access::kRead, "index", Operand(index));
    f(mode == RowsMode::kScatterAdd ? Access::kReadWrite : Access::kWrite, "output", Operand(dst));
  }
  bool operator==(const DmaRowsCmd&) const = default;
};

// Writes the source elements whose mask element is not zero densely to dst, in n, c, h, w order. dst's shape has room
// for all of them. The answer is their number.
struct DmaMaskSelectCmd {
  Tensor dst, src, mask;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "mask", Operand(mask));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaMaskSelectCmd&) const = default;
};

// Writes base + i for every non-zero element i of src (n, c, h, w order) densely to dst. The answer is their number.
struct DmaNonzeroCmd {
  Tensor dst, src;
  std::uint32_t base = 0;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const DmaNonzeroCmd&) const = default;
};

enum class ReduceMode : std::uint8_t { kCopy, kMul, kMax, kMin, kAdd };

// Which side of a copy holds FP20, the upper 20 bits of an fp32: as bytes, 51 values in each 128 of them.
enum class Lossy : std::uint8_t { kNone, kPacks, kUnpacks };
inline constexpr int kLossyValues = 51, kLossyBytes = 128;

// dst = src, or dst = dst <mode> src with `combine`.
struct DmaReduceCmd {
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

// How compression codes bytes: their distance from a bias (the most significant byte of an element has bias0, the
// others bias1); with zero_guard a zero byte always has the shortest code.
struct PackingRule {
  std::uint8_t bias0 = 0, bias1 = 0;
  bool zero_guard = false;
  bool operator==(const PackingRule&) const = default;
};

// Compresses `plain` (local) into `packed` (system), or back. One stream, or units for random access with their lengths
// in `meta`. In softtpu's form a unit is a row of w elements in its own slot of `packed`; the chip's own, `grouped`, has one
// for each n, as many channels as there are NPUs, and h. device/engines/dma/README.md gives the formats.
struct DmaCompressCmd {
  bool expand = false;
  bool units = false;
  bool grouped = false;
  Tensor plain, packed, meta;
  PackingRule rule;
  template <class F>
  void operands(F f) const {
    f(expand ? Access::kWrite : Access::kRead, expand ? "dst" : "src", Operand(plain));
    f(expand ? Access::kRead : Access::kWrite, expand ? "src" : "dst", Operand(packed));
    if (units) f(expand ? Access::kRead : Access::kWrite, "meta", Operand(meta));
  }
  bool operator==(const DmaCompressCmd&) const = default;
};

}  // namespace softtpu
