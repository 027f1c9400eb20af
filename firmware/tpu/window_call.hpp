// What the entry points of convolutions and poolings have in common.
#pragma once

#include "firmware/call.hpp"
#include "tpu_kernel.h"

namespace softtpu {

// The window as the functions take it.
inline Window to_window(const Call& call, const dim2* kernel, const padding_t* padding, const dim2* stride,
                        const dim2* dilation) {
  Window window;
  window.kernel = call.dim("kernel", kernel);
  window.stride = call.dim("stride", stride);
  window.dilation = call.dim("dilation", dilation);
  if (call.given("padding", padding)) window.padding = {padding->top, padding->bottom, padding->left, padding->right};
  return window;
}

// The window of a *_for_deconv2d function: stride 1, values inserted, the stored kernel turned.
inline Window to_deconv_window(const Call& call, const dim2* kernel, const dim2* insert, const padding_t* padding,
                               const dim2* dilation) {
  constexpr dim2 kUnit = {1, 1};
  Window window = to_window(call, kernel, padding, &kUnit, dilation);
  window.insert = call.dim("insert", insert);
  window.rotated_180 = true;
  return window;
}

inline Dim4 output_shape(const Dim4& input, int channels, const Window& window) {
  const Dim2 size = output_size(input, window);
  return {input.n, channels, size.h, size.w};
}

// The pair (padding, insertion) of each input channel.
inline Tensor channel_pairs(local_addr_t addr, const Dim4& input, Dtype type) {
  return Call::local(addr, Dim4{1, input.c, 1, 2}, Stride4{0, 2, 0, 1}, type);
}

}  // namespace softtpu
