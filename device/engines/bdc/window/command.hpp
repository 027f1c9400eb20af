// BDC commands that move a kernel window over feature maps: convolution, depthwise convolution, pooling.
#pragma once

#include <cstdint>
#include <optional>

#include "device/command/traits.hpp"
#include "device/engines/bdc/requant/requant.hpp"

namespace softtpu {

// What windows see beyond the input: a value, or the input again. No function asks for the input; instructions can.
enum class Beyond : std::uint8_t {
  kValue,
  kReflected,   // from the second row on, as in a mirror in the first one
  kReplicated,  // the nearest row
  kCircular,    // the rows of the other end
};

// The row (or column) of an input of `extent` that windows see at `place`, which may lie before or behind it.
constexpr int source_index(Beyond beyond, std::int64_t place, std::int64_t extent) {
  if (place >= 0 && place < extent) return static_cast<int>(place);
  if (beyond == Beyond::kReplicated || extent == 1) return static_cast<int>(place < 0 ? 0 : extent - 1);
  const std::int64_t period = beyond == Beyond::kCircular ? extent : 2 * (extent - 1);
  const std::int64_t rest = (place % period + period) % period;
  return static_cast<int>(rest < extent ? rest : period - rest);
}

// How the kernel moves over the input. `insert` values stand between neighbours of the input, padding around it.
struct Window {
  Dim2 kernel, stride, dilation;
  Dim2 insert{0, 0};
  Padding4 padding;
  bool rotated_180 = false;  // the stored kernel is used turned by 180 degrees
  Beyond beyond = Beyond::kValue;

  std::int64_t taps() const { return std::int64_t{kernel.h} * kernel.w; }
  // Strided windows may leave out rows and columns.
  Role input_role() const { return {.all = stride.h <= 1 && stride.w <= 1}; }
  template <class F>
  void numbers(F f) const {
    f("kernel.h", kernel.h);
    f("kernel.w", kernel.w);
    f("stride.h", stride.h);
    f("stride.w", stride.w);
    f("dilation.h", dilation.h);
    f("dilation.w", dilation.w);
    f("insert.h", insert.h);
    f("insert.w", insert.w);
    f("padding.top", padding.top);
    f("padding.bottom", padding.bottom);
    f("padding.left", padding.left);
    f("padding.right", padding.right);
  }
  bool operator==(const Window&) const = default;
};

// Extent of the input with what is inserted, without padding.
constexpr std::int64_t spread_extent(int extent, int insert) {
  return (std::int64_t{extent} - 1) * (std::int64_t{insert} + 1) + 1;
}

// Extent of the output in one direction; 0 when no window fits or the sizes make no sense.
constexpr int window_count(int extent, int insert, int before, int after, int kernel, int stride, int dilation) {
  const std::int64_t room = spread_extent(extent, insert) + before + after - (std::int64_t{kernel} - 1) * dilation - 1;
  if (stride < 1 || room < 0) return 0;
  return static_cast<int>(room / stride + 1);
}
constexpr Dim2 output_size(const Dim4& input, const Window& window) {
  const auto& [kernel, stride, dilation, insert, pad, rotated_180, beyond] = window;
  return {window_count(input.h, insert.h, pad.top, pad.bottom, kernel.h, stride.h, dilation.h),
          window_count(input.w, insert.w, pad.left, pad.right, kernel.w, stride.w, dilation.w)};
}

enum class Conv2dKind : std::uint8_t {
  kFloat,
  kSymmetric,    // 8-bit integers; sum + bias, shifted and saturated
  kAsymmetric,   // 8-bit integers; kernel minus zero point
  kRequantised,  // the same, + bias, then relu and `requant` or saturation
};

// dst[n, oc] = sum over ic of the windows of src[n, ic] x weight[oc, ic] (+ bias[oc]) (+ old).
// Weights are stored as the tensor [1, oc, groups of input channels x kernel, channels of a group].
struct Conv2dCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  Conv2dKind kind = Conv2dKind::kFloat;
  Window window;
  Tensor dst, src;
  Operand weight;
  std::optional<Tensor> bias;
  bool add_old = false;
  Operand zero_point = Scalar{};  // for all, or one for each output channel
  Operand padding = Scalar{};     // values of the padding: for all, or per input channel the pair (padding, insertion)
  Scalar insertion;
  Dtype bias_type = Dtype::kFp32;  // kSymmetric: its sign counts even without a bias
  int rshift = 0;                  // kSymmetric
  bool relu = false;
  std::optional<Requant> requant;  // kRequantised
  bool symmetric = false;          // kRequantised: saturates to -high..high
  std::optional<Operand> rescale;  // kFloat: one f32 factor for each output channel, after relu

  bool has_zero_points() const { return kind == Conv2dKind::kAsymmetric || kind == Conv2dKind::kRequantised; }
  double operations() const {
    return 2.0 * static_cast<double>(dst.shape.elements()) * src.shape.c * static_cast<double>(window.taps());
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(src), window.input_role());
    f(Access::kRead, "weight", weight);
    if (bias) f(Access::kRead, "bias", Operand(*bias), kFixedType);
    if (has_zero_points()) f(Access::kRead, "kzp", zero_point, kFixedType);
    if (has_zero_points()) f(Access::kRead, "pad", padding, kFixedType);
    if (requant && requant->table) f(Access::kRead, "requant", Operand(*requant->table), kFixedType);
    if (rescale) f(Access::kRead, "rescale", *rescale);
    f(add_old ? Access::kReadWrite : Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    window.numbers(f);
    if (kind == Conv2dKind::kSymmetric) f("rshift", rshift);
  }
  bool operator==(const Conv2dCmd&) const = default;
};

// Sums of a convolution with zero points are unsigned when every type is, and the zero point is the constant 0.
inline bool sums_are_unsigned(const Conv2dCmd& cmd) {
  if (cmd.bias && is_signed_int(cmd.bias_type)) return false;
  const auto* point = std::get_if<Scalar>(&cmd.zero_point);
  if (point == nullptr || (point->bits & 0xFFU) != 0 || is_signed_int(point->dtype)) return false;
  return !is_signed_int(cmd.src.dtype) && !is_signed_int(type_of(cmd.weight));
}

// dst[0, oc, tap, ic] = the sum, over all windows of src[0, ic] in their order, of the element under that tap times
// grad[0, oc] at the window's place: the gradient of a convolution's weights (numerics: bm1684x2.md section 3).
struct WeightGradientCmd {
  static constexpr CommandTraits kTraits{.is_product = true};
  Dim2 kernel;
  Tensor dst, src, grad;
  double operations() const { return 2.0 * static_cast<double>(dst.shape.elements()) * grad.shape.h * grad.shape.w; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(src));
    f(Access::kRead, "gradient", Operand(grad));
    f(Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("kernel.h", kernel.h);
    f("kernel.w", kernel.w);
  }
  bool operator==(const WeightGradientCmd&) const = default;
};

enum class PoolMode : std::uint8_t { kMax, kMin, kAverage, kDepthwise };
constexpr bool is_sum(PoolMode mode) { return mode == PoolMode::kAverage || mode == PoolMode::kDepthwise; }

// dst[n, c] = the windows of src[n, c] reduced by `mode`. Averages are sums of products with a constant weight.
struct PoolCmd {
  static constexpr CommandTraits kTraits{};
  PoolMode mode = PoolMode::kMax;
  Window window;
  Tensor dst, src;
  Operand weight = Scalar{};   // kAverage: the scale; kDepthwise: [1, c, kh, kw], or a constant
  std::optional<Tensor> bias;  // kDepthwise: one value for each channel
  Operand padding = Scalar{};  // as in Conv2dCmd
  Scalar insertion;
  Dtype bias_type = Dtype::kInt32;
  int rshift = 0;  // integers
  Rounding rounding = Rounding::kHalfUp;
  bool relu = false;
  std::optional<Requant> requant;  // kDepthwise of integers: instead of rshift
  bool symmetric = false;          // saturates to -high..high
  std::optional<Scalar> rescale;   // kAverage of FP8: an f32 factor for results that are FP8 too

  bool sums_integers() const { return is_sum(mode) && !is_float(src.dtype); }
  double operations() const {
    return (mode == PoolMode::kDepthwise ? 2 : 1) * static_cast<double>(dst.shape.elements()) *
           static_cast<double>(window.taps());
  }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(src), window.input_role());
    if (mode == PoolMode::kDepthwise) f(Access::kRead, "weight", weight);
    if (bias) f(Access::kRead, "bias", Operand(*bias), kFixedType);
    f(Access::kRead, "pad", padding, kFixedType);
    if (requant && requant->table) f(Access::kRead, "requant", Operand(*requant->table), kFixedType);
    f(Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    window.numbers(f);
    if (sums_integers()) f("rshift", rshift);
  }
  bool operator==(const PoolCmd&) const = default;
};

// dst[n, c, 0, r] = the window at region r of src[n, c]. A region holds first w, first h, last w, last h; taps of the
// kernel outside the region see `outside`.
struct RoiPoolCmd {
  static constexpr CommandTraits kTraits{};
  PoolMode mode = PoolMode::kMax;
  Dim2 kernel;
  Tensor dst, src;
  Tensor regions;             // [1, count, 1, 4]
  Operand weight = Scalar{};  // as in PoolCmd
  Scalar outside;

  double operations() const { return static_cast<double>(dst.shape.elements()) * kernel.h * kernel.w; }
  template <class F>
  void operands(F f) const {
    f(Access::kRead, "input", Operand(src), kSomeElements);
    f(Access::kRead, "roi", Operand(regions));
    if (mode == PoolMode::kDepthwise) f(Access::kRead, "weight", weight);
    f(Access::kWrite, "output", Operand(dst));
  }
  template <class F>
  void numbers(F f) const {
    f("kernel.h", kernel.h);
    f("kernel.w", kernel.w);
  }
  bool operator==(const RoiPoolCmd&) const = default;
};

}  // namespace softtpu
