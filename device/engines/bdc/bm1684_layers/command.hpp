// BM1684's fp32 layers: convolution, depthwise convolution and pooling, matrix product.
#pragma once

#include <cstdint>
#include <optional>

#include "device/isa/types.hpp"

namespace softtpu {

// How a window moves over the input.
struct OkkWindow {
  Dim2 kernel;
  Padding4 padding;
  Dim2 stride, dilation;
  bool operator==(const OkkWindow&) const = default;
};

// output = conv(input, weight) [+ bias] [+ old output]. Weights are in 2IC mode: pairs of fp32, shape [pairs of input
// channels, output channels, kh, kw]; `even` and `odd` are the two halves of the pairs as tensors.
struct OkkConvCmd {
  OkkWindow window;
  bool add = false;
  Tensor output, input, even;
  std::optional<Tensor> odd;   // none for one input channel
  std::optional<Tensor> bias;  // one value per output channel
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(input));
    f(Access::kRead, "weight", Operand(even));
    if (odd) f(Access::kRead, "weight of odd input channels", Operand(*odd));
    if (bias) f(Access::kRead, "bias", Operand(*bias));
    f(add ? Access::kReadWrite : Access::kWrite, "output", Operand(output));
  }
  bool operator==(const OkkConvCmd&) const = default;
};

enum class OkkWindowMode : std::uint8_t {
  kDepthwise,
  kAverage,  // depthwise with every weight 1 / (kh * kw)
  kMax,
};

// A window over each channel by itself.
struct OkkWindowCmd {
  OkkWindowMode mode = OkkWindowMode::kDepthwise;
  OkkWindow window;
  Tensor output, input;
  std::optional<Tensor> weight;  // kDepthwise: [1, c, kh, kw], compact
  std::optional<Tensor> bias;    // one value per channel
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(input));
    if (weight) f(Access::kRead, "weight", Operand(*weight));
    if (bias) f(Access::kRead, "bias", Operand(*bias));
    f(Access::kWrite, "output", Operand(output));
  }
  bool operator==(const OkkWindowCmd&) const = default;
};

// output[rows, cols] = left[rows, inner] * right[inner, cols] [+ bias[1, cols]] [+ old output]. The tensors are
// matrices in the matrix layout: shape [rows, channels, 1, columns per channel], the last channel maybe partly used.
struct OkkMatmulCmd {
  int inner = 1, cols = 1;
  bool add = false;
  Tensor output, left, right;
  std::optional<Tensor> bias;
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "left", Operand(left));
    f(Access::kRead, "right", Operand(right));
    if (bias) f(Access::kRead, "bias", Operand(*bias));
    f(add ? Access::kReadWrite : Access::kWrite, "output", Operand(output));
  }
  bool operator==(const OkkMatmulCmd&) const = default;
};

}  // namespace softtpu
