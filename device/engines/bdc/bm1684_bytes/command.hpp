// BM1684's layers of 8-bit integers, which compiled networks use and no function of OKKernel does. Inputs, outputs and
// the weights of convolutions lie four bytes to a 32-bit word: neighbours along N, and for weights neighbouring input
// channels. Their tensors count words, shape and strides included. Matrices are plain bytes. Biases have 16 bits.
#pragma once

#include <cstdint>
#include <optional>

#include "device/command/traits.hpp"
#include "device/engines/bdc/bm1684_layers/command.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// How a sum becomes a byte: negative sums to 0, half of the last place added, >> rshift, clamped.
struct OkkByteEnd {
  int rshift = 0;
  bool relu = false;
  Dtype type = Dtype::kInt8;
  bool operator==(const OkkByteEnd&) const = default;
};

// output = end(conv(input, weight) + bias).
struct OkkByteConvCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  OkkWindow window;
  int batches = 1, input_channels = 1;
  OkkByteEnd end;
  Dtype input_type = Dtype::kInt8, weight_type = Dtype::kInt8;
  Tensor output, input;
  Operand weight = Scalar{};   // [words of input channels, output channels, kh, kw], or one byte for all
  std::optional<Tensor> bias;  // one value per output channel
  double operations() const {
    return 2.0 * batches * static_cast<double>(output.shape.elements()) / output.shape.n * input_channels *
           window.kernel.h * window.kernel.w;
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(input), Role{.all = window.input_role().all, .fixed_type = true});
    f(Access::kRead, "weight", weight, kFixedType);
    if (bias) f(Access::kRead, "bias", Operand(*bias), kFixedType);
    f(Access::kWrite, "output", Operand(output), kFixedType);
  }
  template <class F>
  void numbers(F f) const {
    window.numbers(f);
  }
  bool operator==(const OkkByteConvCmd&) const = default;
};

// A window over each channel by itself: end(sum of input * weight + bias), or the largest.
struct OkkByteWindowCmd {
  static constexpr CommandTraits kTraits{};
  bool is_max = false;
  OkkWindow window;
  int batches = 1;
  OkkByteEnd end;
  Dtype input_type = Dtype::kInt8, weight_type = Dtype::kInt8;
  Tensor output, input;
  Operand weight = Scalar{};   // bytes [1, c, kh, kw], compact, or the same for all taps; not of a maximum
  std::optional<Tensor> bias;  // one value per channel
  double operations() const {
    return 2.0 * batches * static_cast<double>(output.shape.elements()) / output.shape.n * window.kernel.h *
           window.kernel.w;
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(input), Role{.all = window.input_role().all, .fixed_type = true});
    if (!is_max) f(Access::kRead, "weight", weight, kFixedType);
    if (bias) f(Access::kRead, "bias", Operand(*bias), kFixedType);
    f(Access::kWrite, "output", Operand(output), kFixedType);
  }
  template <class F>
  void numbers(F f) const {
    window.numbers(f);
  }
  bool operator==(const OkkByteWindowCmd&) const = default;
};

// output[rows, cols] = end(left[rows, inner] * right[inner, cols] + bias[1, cols]), in the matrix layout of
// OkkMatmulCmd.
struct OkkByteMatmulCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  static constexpr NoNumbers numbers{};
  int inner = 1, cols = 1;
  OkkByteEnd end;
  Tensor output, left, right;
  std::optional<Tensor> bias;
  double operations() const { return 2.0 * output.shape.n * inner * cols; }
  Role columns_of(const Tensor& matrix, int columns) const {
    return {.last_channel = last_channel_of(columns, matrix.shape.w), .fixed_type = true};
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "left", Operand(left), columns_of(left, inner));
    f(Access::kRead, "right", Operand(right), columns_of(right, cols));
    if (bias) f(Access::kRead, "bias", Operand(*bias), columns_of(*bias, cols));
    f(Access::kWrite, "output", Operand(output), columns_of(output, cols));
  }
  bool operator==(const OkkByteMatmulCmd&) const = default;
};

// dst = table[low 8 bits of src], of a table of words that the network has put into L2.
struct OkkTableCmd {
  static constexpr CommandTraits kTraits{.elementwise = true};
  static constexpr NoNumbers numbers{};
  static constexpr int kWords = 256;
  Tensor dst, src, table;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "src", Operand(src));
    f(Access::kRead, "table", Operand(table), Role{.all = false, .fixed_type = true});
    f(Access::kWrite, "dst", Operand(dst));
  }
  bool operator==(const OkkTableCmd&) const = default;
};

}  // namespace softtpu
