// Entry points of BM1684's fp32 layers.
#include <algorithm>

#include "device/isa/op_names.hpp"
#include "firmware/okk/okk_call.hpp"

namespace softtpu {
namespace {

constexpr unsigned kFloatBytes = 4;

// NULL: no padding, steps of one.
OkkWindow to_window(int kernel_h, int kernel_w, const Padding* padding, const dim2* stride, const dim2* dilation) {
  OkkWindow window;
  window.kernel = {kernel_h, kernel_w};
  if (padding != nullptr) window.padding = {padding->top, padding->bottom, padding->left, padding->right};
  if (stride != nullptr) window.stride = {stride->h, stride->w};
  if (dilation != nullptr) window.dilation = {dilation->h, dilation->w};
  return window;
}

// Positions of the window; wide arithmetic because the members are not checked yet, 0 when it never fits.
int positions(std::int64_t extent, std::int64_t padding, std::int64_t kernel, std::int64_t dilation,
              std::int64_t stride) {
  const std::int64_t room = extent + padding - ((kernel - 1) * dilation + 1);
  if (room < 0 || stride < 1) return 0;
  return static_cast<int>(std::min<std::int64_t>(room / stride + 1, INT32_MAX));
}

Dim4 output_shape(const OkkWindow& window, const Dim4& input, int channels) {
  const Padding4& pad = window.padding;
  return {input.n, channels,
          positions(input.h, std::int64_t{pad.top} + pad.bottom, window.kernel.h, window.dilation.h, window.stride.h),
          positions(input.w, std::int64_t{pad.left} + pad.right, window.kernel.w, window.dilation.w, window.stride.w)};
}

// The even or odd half of weights in 2IC mode: pairs of fp32, strides in pairs. The shape is not checked yet.
Tensor weight_half(const Call& call, std::uint32_t addr, const Dim4& shape, const dim4* stride, unsigned half) {
  Tensor weight = call.local(addr, shape, stride, Dtype::kFp32, Layout::kCompact);
  weight.addr += half * kFloatBytes;
  for (std::int64_t* step : {&weight.stride.n, &weight.stride.c, &weight.stride.h, &weight.stride.w})
    *step = layout_detail::times(*step, 2);
  weight.natural = false;
  return weight;
}

// The command's strides count words; what the caller gave is only known here.
void check_pair_stride(const Call& call, const dim4* stride) {
  if (stride == nullptr) return;
  if (std::min({stride->n, stride->c, stride->h, stride->w}) < 0)
    call.fault({"{argument} {value} has a negative member.", "kernel_stride",
                fmt::format("[{}, {}, {}, {}]", stride->n, stride->c, stride->h, stride->w)});
}

void window_op(Op op, OkkWindowMode mode, local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape,
               int kernel_h, int kernel_w, const Padding* padding, const dim2* stride) {
  const Call call(op);
  const Dim4 in = call.dim("input_shape", input_shape);
  const OkkWindow window = to_window(kernel_h, kernel_w, padding, stride, nullptr);
  call.issue(OkkWindowCmd{mode, window, call.local(output_addr, output_shape(window, in, in.c), Dtype::kFp32),
                          call.local(input_addr, in, Dtype::kFp32), std::nullopt, std::nullopt, std::nullopt});
}

// A matrix in the matrix layout. A width below one is left for the validation to name.
Tensor matrix(const Call& call, std::uint32_t addr, int rows, int cols, int cols_per_channel) {
  const int width = std::max(cols_per_channel, 1);
  Dim4 shape = matrix_shape(rows, cols, width);
  Tensor tensor = call.local(addr, shape, Dtype::kFp32);
  tensor.shape.w = cols_per_channel;
  return tensor;
}

}  // namespace
}  // namespace softtpu

extern "C" {
using namespace softtpu;  // NOLINT: the C functions below are the only contents

void okk_bdc_conv2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr, local_addr_t bias_addr,
                    const dim4* input_shape, int output_c, int kernel_h, int kernel_w, const dim4* input_stride,
                    const dim4* kernel_stride, bool using_bias, bool result_add, const Padding* padding,
                    const dim2* stride, const dim2* dilation) {
  const Call call(Op::okk_bdc_conv2d);
  const Dim4 in = call.dim("input_shape", input_shape);
  OkkConvCmd cmd;
  cmd.window = to_window(kernel_h, kernel_w, padding, stride, dilation);
  cmd.add = result_add;
  cmd.output = call.local(output_addr, output_shape(cmd.window, in, output_c), Dtype::kFp32);
  cmd.input = call.local(input_addr, in, input_stride, Dtype::kFp32);
  check_pair_stride(call, kernel_stride);
  const Dim4 pairs{in.c / 2 + in.c % 2, output_c, kernel_h, kernel_w};
  cmd.even = weight_half(call, weight_addr, pairs, kernel_stride, 0);
  if (in.c > 1) {
    cmd.odd = weight_half(call, weight_addr, pairs, kernel_stride, 1);
    cmd.odd->shape.n = in.c / 2;
  }
  if (using_bias) cmd.bias = call.per_channel(bias_addr, {1, output_c, 1, 1}, Dtype::kFp32);
  call.issue(cmd);
}

void okk_bdc_depthwise2d(local_addr_t output_addr, local_addr_t input_addr, local_addr_t weight_addr,
                         local_addr_t bias_addr, const dim4* input_shape, int kernel_h, int kernel_w, bool using_bias,
                         const Padding* padding, const dim2* stride, const dim2* dilation) {
  const Call call(Op::okk_bdc_depthwise2d);
  const Dim4 in = call.dim("input_shape", input_shape);
  OkkWindowCmd cmd;
  cmd.window = to_window(kernel_h, kernel_w, padding, stride, dilation);
  cmd.output = call.local(output_addr, output_shape(cmd.window, in, in.c), Dtype::kFp32);
  cmd.input = call.local(input_addr, in, Dtype::kFp32);
  cmd.weight = call.local(weight_addr, {1, in.c, kernel_h, kernel_w}, Dtype::kFp32, Layout::kCompact);
  if (using_bias) cmd.bias = call.per_channel(bias_addr, {1, in.c, 1, 1}, Dtype::kFp32);
  call.issue(cmd);
}

void okk_bdc_avg_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape, int kernel_h,
                        int kernel_w, const Padding* padding, const dim2* stride) {
  window_op(Op::okk_bdc_avg_pool2d, OkkWindowMode::kAverage, output_addr, input_addr, input_shape, kernel_h, kernel_w,
            padding, stride);
}

void okk_bdc_max_pool2d(local_addr_t output_addr, local_addr_t input_addr, const dim4* input_shape, int kernel_h,
                        int kernel_w, const Padding* padding, const dim2* stride) {
  window_op(Op::okk_bdc_max_pool2d, OkkWindowMode::kMax, output_addr, input_addr, input_shape, kernel_h, kernel_w,
            padding, stride);
}

void okk_bdc_matmul(local_addr_t output_addr, local_addr_t left_addr, local_addr_t right_addr, local_addr_t bias_addr,
                    int left_rows, int left_cols, int right_cols, int left_cols_per_channel, int right_cols_per_channel,
                    bool using_bias, bool result_add) {
  const Call call(Op::okk_bdc_matmul);
  OkkMatmulCmd cmd;
  cmd.inner = left_cols;
  cmd.cols = right_cols;
  cmd.add = result_add;
  cmd.output = matrix(call, output_addr, left_rows, right_cols, right_cols_per_channel);
  cmd.left = matrix(call, left_addr, left_rows, left_cols, left_cols_per_channel);
  cmd.right = matrix(call, right_addr, left_cols, right_cols, right_cols_per_channel);
  if (using_bias) cmd.bias = matrix(call, bias_addr, 1, right_cols, right_cols_per_channel);
  call.issue(cmd);
}
}
