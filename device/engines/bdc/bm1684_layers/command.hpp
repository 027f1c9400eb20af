// BM1684's fp32 layers: convolution, depthwise convolution and pooling, matrix product.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "device/command/traits.hpp"
#include "device/isa/types.hpp"

namespace softtpu {

// How a window moves over the input. Networks insert zeros between neighbours of the input of a convolution, and turn
// its kernel by 180 degrees: what transposes it. No function of OKKernel does.
struct OkkWindow {
  Dim2 kernel;
  Padding4 padding;
  Dim2 stride, dilation;
  Dim2 insert{0, 0};
  bool rotated_180 = false;
  // Where the tap (h, w) of the window stands in the stored kernel.
  Dim2 stored_tap(int h, int w) const { return rotated_180 ? Dim2{kernel.h - 1 - h, kernel.w - 1 - w} : Dim2{h, w}; }
  // Extent of the input with what is inserted, without padding.
  std::int64_t spread_height(int height) const { return (std::int64_t{height} - 1) * (insert.h + 1) + 1; }
  std::int64_t spread_width(int width) const { return (std::int64_t{width} - 1) * (insert.w + 1) + 1; }
  // Strided windows may leave out rows and columns.
  Role input_role() const { return {.all = stride.h <= 1 && stride.w <= 1}; }
  template <class F>
  void numbers(F f) const {
    f("kernel_h", kernel.h);
    f("kernel_w", kernel.w);
    f("padding.top", padding.top);
    f("padding.bottom", padding.bottom);
    f("padding.left", padding.left);
    f("padding.right", padding.right);
    f("stride.h", stride.h);
    f("stride.w", stride.w);
    f("dilation.h", dilation.h);
    f("dilation.w", dilation.w);
  }
  bool operator==(const OkkWindow&) const = default;
};

// output = conv(input, weight) [+ bias] [+ old output]. Weights are in 2IC mode: pairs of fp32, shape [pairs of input
// channels, output channels, kh, kw]; `even` and `odd` are the two halves of the pairs as tensors. Networks also give
// one constant for all weights.
struct OkkConvCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  OkkWindow window;
  bool add = false;
  Tensor output, input, even;
  std::optional<Tensor> odd;      // none for one input channel
  std::optional<Tensor> bias;     // one value per output channel
  std::optional<float> constant;  // every weight; then there are no tensors of them
  int pairs() const { return (input.shape.c + 1) / 2; }
  bool has_odd() const { return constant ? input.shape.c > 1 : odd.has_value(); }
  double operations() const {
    return 2.0 * static_cast<double>(output.shape.elements()) * input.shape.c * window.kernel.h * window.kernel.w;
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(input), window.input_role());
    f(Access::kRead, "weight",
      constant ? Operand(Scalar{std::bit_cast<std::uint32_t>(*constant), Dtype::kFp32}) : Operand(even));
    if (odd) f(Access::kRead, "weight of odd input channels", Operand(*odd));
    if (bias) f(Access::kRead, "bias", Operand(*bias), kFixedType);
    f(add ? Access::kReadWrite : Access::kWrite, "output", Operand(output));
  }
  template <class F>
  void numbers(F f) const {
    window.numbers(f);
    f("input_shape.h", input.shape.h);
    f("input_shape.w", input.shape.w);
    f("input_shape.h with padding", std::int64_t{input.shape.h} + window.padding.top + window.padding.bottom);
    if (output.shape.h < 1 || output.shape.w < 1) return;  // the window does not fit: a rule of its own
    f("output height", output.shape.h);
    f("output width", output.shape.w);
  }
  bool operator==(const OkkConvCmd&) const = default;
};

enum class OkkWindowMode : std::uint8_t {
  kDepthwise,
  kAverage,  // depthwise with every weight 1 / (kh * kw), or the factor that networks give
  kMax,
};

// A window over each channel by itself.
struct OkkWindowCmd {
  static constexpr CommandTraits kTraits{};
  OkkWindowMode mode = OkkWindowMode::kDepthwise;
  OkkWindow window;
  Tensor output, input;
  std::optional<Tensor> weight;  // kDepthwise: [1, c, kh, kw], compact
  std::optional<float> factor;   // kAverage
  std::optional<Tensor> bias;    // one value per channel
  double operations() const {
    return (mode == OkkWindowMode::kDepthwise ? 2 : 1) * static_cast<double>(output.shape.elements()) *
           window.kernel.h * window.kernel.w;
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(input), window.input_role());
    if (weight) f(Access::kRead, "weight", Operand(*weight));
    if (bias) f(Access::kRead, "bias", Operand(*bias), kFixedType);
    f(Access::kWrite, "output", Operand(output));
  }
  template <class F>
  void numbers(F f) const {
    window.numbers(f);
  }
  bool operator==(const OkkWindowCmd&) const = default;
};

// output[rows, cols] = left[rows, inner] * right[inner, cols] [+ bias[1, cols]] [+ old output]. The tensors are
// matrices in the matrix layout: shape [rows, channels, 1, columns per channel], the last channel maybe partly used.
struct OkkMatmulCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  int inner = 1, cols = 1;
  bool add = false;
  Tensor output, left, right;
  std::optional<Tensor> bias;
  double operations() const { return 2.0 * output.shape.n * inner * cols; }
  Role columns_of(const Tensor& matrix, bool fixed_type = false) const {
    return {.last_channel = last_channel_of(cols, matrix.shape.w), .fixed_type = fixed_type};
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "left", Operand(left), Role{.last_channel = last_channel_of(inner, left.shape.w)});
    f(Access::kRead, "right", Operand(right), columns_of(right));
    if (bias) f(Access::kRead, "bias", Operand(*bias), columns_of(*bias, true));
    f(add ? Access::kReadWrite : Access::kWrite, "output", Operand(output), columns_of(output));
  }
  template <class F>
  void numbers(F f) const {
    f("left_rows", left.shape.n);
    f("left_cols", inner);
    f("right_cols", cols);
    f("left_cols_per_channel", left.shape.w);
    f("right_cols_per_channel", right.shape.w);
  }
  bool operator==(const OkkMatmulCmd&) const = default;
};

}  // namespace softtpu
